// Every visible text whose contrast to its background is below 4.5 to 1: WCAG 2.2, 1.4.3.
(() => {
  /** @param {string} colour */
  const parse = (colour) => (colour.match(/[\d.]+/g) ?? ["0", "0", "0", "0"]).map(Number);
  /** @param {number} v */
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  /** @param {string} colour */
  const luminance = (colour) => {
    const [r, g, b] = parse(colour).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  /** @param {Element} element */
  const behind = (element) => {
    for (let /** @type {Element | null} */ e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if ((parse(colour)[3] ?? 1) === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  /** @param {Element} e */
  const contrast = (e) => {
    const [a, b] = [luminance(getComputedStyle(e).color), luminance(behind(e))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  /** @param {Element} e */
  const hasText = (e) => [...e.childNodes].some((n) => n instanceof Text && n.data.trim());
  return [...document.body.querySelectorAll("*")]
    .filter((e) => e.checkVisibility() && !e.closest("svg") && hasText(e) && contrast(e) < 4.5)
    .map((e) => `${e.tagName}#${e.id}.${e.className} ${contrast(e).toFixed(2)}`);
})()
