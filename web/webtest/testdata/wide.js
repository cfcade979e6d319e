// The elements because of which the page scrolls sideways.
(() => {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  /** @param {Element} e */
  const isWide = (e) => e.getBoundingClientRect().right > innerWidth + 0.5;
  return [...document.body.querySelectorAll("*")].filter(isWide).map((e) => `${e.tagName}#${e.id}`);
})()
