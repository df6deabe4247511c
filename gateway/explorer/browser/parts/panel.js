/** One request and its answer: what is asked, of which block the answer is, the request as curl. */
/** @import { Part } from "../dom-types.ts" */
/** @import { Answer, Question } from "../types.ts" */
import { ApiError, askTable, readKey } from "../api.js";
import { announce, fill, h, setText } from "../dom.js";
import { formatAge, formatTime } from "../format.js";
import { curlLine, pathWithQuery } from "../request.js";
import { routeTo } from "../route.js";

/**
 * @param {{
 *   readonly title: string;
 *   readonly part: Part;
 *   readonly ask: () => Question;
 *   readonly level?: "h2" | "h3";
 *   readonly extra?: Node | undefined;
 *   readonly onAnswer?: ((answer: Answer) => void) | undefined;
 * }} options
 */
export function panel({ title, part, ask, level = "h2", extra, onAnswer }) {
  const age = h("span", { class: "age" });
  const message = h("p", { class: "message", hidden: true });
  const body = h("div", { class: "body" }, part.node);
  const { table } = ask();
  const { limit: _limit, offset: _offset, ...asked } = ask().params;
  const link = h(
    "a",
    { href: routeTo("table", table.path.slice(1), asked), title: table.description ?? table.summary },
    `GET ${table.path}`,
  );
  const node = h(
    "section",
    { class: "panel", "aria-label": title },
    h(
      "header",
      {},
      h(level, {}, title),
      age,
      curlButton(() => curlOf(ask())),
    ),
    extra,
    message,
    body,
    h("footer", {}, link),
  );
  body.hidden = true;
  const tell = (/** @type {string} */ text, isError = false) => {
    message.hidden = text === "";
    setText(message, text);
    message.classList.toggle("error", isError);
  };
  tell("Loading …");
  return {
    node,
    /**
     * Asks and shows the answer, or why there is none. What was shown before stays below an error.
     * @param {AbortSignal} signal
     * @returns {Promise<Answer>}
     */
    async refresh(signal) {
      try {
        const answer = await askTable(ask(), signal);
        // The chart in it is drawn at the width that it has.
        body.hidden = answer.rows.length === 0;
        part.update(answer.rows);
        tell(
          answer.rows.length === 0
            ? "No rows."
            : answer.stale === null
              ? ""
              : `Older than it should be: ${answer.stale}`,
        );
        showAge(age, answer);
        onAnswer?.(answer);
        return answer;
      } catch (error) {
        if (!signal.aborted) tell(sentenceOf(error), true);
        throw error;
      }
    },
  };
}

/**
 * What went wrong, and what to do.
 * @param {unknown} error
 */
export function sentenceOf(error) {
  if (!(error instanceof ApiError)) return "This host cannot be reached. It is tried again.";
  if (error.status === 401)
    return readKey() === null
      ? "Tables need an API key: set one at the top of the page."
      : `${error.message} Set another at the top of the page.`;
  const again = error.retryAfterS === null ? "" : ` It is tried again in ${error.retryAfterS} s.`;
  return `${error.message}${again}`;
}

/**
 * @param {HTMLElement} element
 * @param {Answer} answer
 */
function showAge(element, { block, asOfMs }) {
  if (block === null || asOfMs === null) return;
  setText(
    element,
    `block ${Number(block).toLocaleString("en")} · ${formatAge((Date.now() - asOfMs) / 1_000)}`,
  );
  element.title = formatTime(asOfMs / 1_000);
}

/** @param {Question} question */
function curlOf({ table, params }) {
  return curlLine({ origin: location.origin, key: readKey(), path: pathWithQuery(table.path, params) });
}

/**
 * @param {() => string} line
 * @returns {HTMLElement}
 */
export function curlButton(line) {
  const label = "Copy as curl";
  const button = h(
    "button",
    { type: "button", class: "curl", title: "The request as a line for a shell, with your key" },
    label,
  );
  button.addEventListener("click", async () => {
    const text = line();
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    // Over plain HTTP from elsewhere there is no clipboard: then it is shown to be copied by hand.
    if (isCopied) {
      fill(button, "Copied");
      announce("The curl command is copied.");
      setTimeout(() => fill(button, label), 1_500);
    } else
      button.replaceWith(
        h("input", { class: "curl", readonly: true, value: text, "aria-label": "curl command" }),
      );
  });
  return button;
}
