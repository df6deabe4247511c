import { ServiceError } from "../errors.ts";

const SHOWN_CHARACTERS = 64;
const PLAIN_NUMBER = /^-?\d{1,24}(\.\d{1,24})?$/;

/** A sent value as an error message shows it: plain numbers bare, anything else quoted, escaped to printable ASCII and cut. */
export function formatValue(value: string): string {
  if (PLAIN_NUMBER.test(value)) return value;
  const cut = value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value;
  return JSON.stringify(cut).replace(/[^\x20-\x7e…]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Names of ours; a client may send any other. */
const OWN_NAME = /^[A-Za-z][A-Za-z0-9_ ]{0,63}$/;

/** A parameter's name as a message shows it: a client's own words escaped and cut, as values are. */
function showName(name: string): string {
  return OWN_NAME.test(name) ? name : formatValue(name);
}

/** The 400 of one parameter: `Cannot parse limit: 10001 is above 10000.` */
export function parameterError(parameter: string, reason: string): ServiceError {
  return new ServiceError("bad_request", `Cannot parse ${showName(parameter)}: ${reason}.`);
}

/** The same with the value in front of the broken rule; `rule` starts with a verb ("is above 10000"). */
export function parameterValueError(parameter: string, value: string, rule: string): ServiceError {
  return parameterError(parameter, `${formatValue(value)} ${rule}`);
}
