import type { Clock } from "../../request/clock.ts";
import type { Ask } from "../asking.ts";

/** JSON Schema of a tool's arguments: an object of named ones. */
export interface ArgumentsSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: string[];
  readonly additionalProperties: false;
}

export type Arguments = Readonly<Record<string, unknown>>;

export interface CallContext {
  readonly ask: Ask;
  readonly clock: Pick<Clock, "nowMs">;
}

/** A tool as the protocol lists it, with what it does. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ArgumentsSchema;
  /** Answers in text. Throws AskError, or ToolArgumentError for what the caller can repair. */
  call(args: Arguments, context: CallContext): Promise<string> | string;
}

/** Arguments that no request can be made of. */
export class ToolArgumentError extends Error {
  override readonly name = "ToolArgumentError";
}

/** Thrown in place of an answer that a tool would put into other words: it has been paid for, so it is told as it came. */
export class AnswerAsItCame extends Error {
  override readonly name = "AnswerAsItCame";
  readonly text: string;

  constructor(text: string, options: ErrorOptions) {
    super("The answer is told as it came", options);
    this.text = text;
  }
}
