import { ServiceError } from "../errors.ts";

const SHOWN_CHARACTERS = 64;
const PLAIN_NUMBER = /^-?\d{1,24}(\.\d{1,24})?$/;

/** A value as an error message shows it: plain numbers bare, anything else quoted, escaped to printable ASCII and cut. */
export function formatValue(value: string): string {
  if (PLAIN_NUMBER.test(value)) return value;
  const cut = value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value;
  return JSON.stringify(cut).replace(/[^\x20-\x7e…]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Names that the API declares; a client may send any other. */
const DECLARED_NAME = /^[A-Za-z][A-Za-z0-9_ ]{0,63}$/;

/** A parameter's name as a message shows it: an undeclared name is escaped and cut like a value. */
function formatName(name: string): string {
  return DECLARED_NAME.test(name) ? name : formatValue(name);
}

/** The 400 of one parameter: `Cannot parse limit: 10001 is above 10000.` */
export function parameterError(parameter: string, reason: string): ServiceError {
  return new ServiceError("bad_request", `Cannot parse ${formatName(parameter)}: ${reason}.`);
}

/** The same with the value in front of the broken rule; `rule` starts with a verb ("is above 10000"). */
export function parameterValueError(parameter: string, value: string, rule: string): ServiceError {
  return parameterError(parameter, `${formatValue(value)} ${rule}`);
}
