// Elements of the page, found by id.

/**
 * The element with an id. Throws when there is none of that class.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type its class
 * @returns {T}
 */
export function byId(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`voicegw: find #${id}: the page has no such ${type.name}`);
  return element;
}

/**
 * The first descendant that matches a selector. Throws when there is none of that class.
 * @template {HTMLElement} T
 * @param {HTMLElement} parent
 * @param {string} selector
 * @param {new () => T} type
 * @returns {T}
 */
export function childOf(parent, selector, type) {
  const element = parent.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`voicegw: find ${selector}: #${parent.id} has no such ${type.name}`);
  return element;
}

/**
 * The URL in a meta element of the page, made absolute.
 * @param {string} name
 */
export function metaURL(name) {
  const { content } = childOf(document.head, `meta[name=${name}]`, HTMLMetaElement);
  return new URL(content, location.href).href;
}

/**
 * The closest ancestor, or the element itself, that matches a selector.
 * @param {EventTarget | null} target
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function closest(target, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}
