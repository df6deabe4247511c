/** Builds nodes. Text is only ever set as text: names of tokens and vaults come from strangers. */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Readonly<Record<string, string | number | boolean | undefined | ((event: any) => void)>>} [attributes] those that
 *   begin with "on" listen
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

/**
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

/**
 * @param {readonly Child[]} children
 * @returns {(Node | string)[]}
 */
function present(children) {
  return children.flatMap((child) =>
    child === null || child === undefined || child === false
      ? []
      : [child instanceof Node ? child : String(child)],
  );
}

/**
 * Sets a text only where it is another one, so that nothing is drawn or read out again for nothing.
 * @param {Element} element
 * @param {string} text
 * @returns {boolean} whether it was another one
 */
export function setText(element, text) {
  if (element.textContent === text) return false;
  element.textContent = text;
  return true;
}

/**
 * Says something to people who do not see the screen.
 * @param {string} text
 */
export function announce(text) {
  const region = document.getElementById("announcer");
  if (region !== null) region.textContent = text;
}
