/* Who goes by keys keeps a place. What had the focus may be drawn anew, or go: then what does the same gets it, else what
   stands nearest. A pointer, and a finger, for which a keyboard would slide in, is left alone. */
(() => {
  const DOES = "__TOKEN__-do--";
  const NEAREST = { right: "#tabs [role=tab][aria-selected=true]" };
  const COMPOSER = "#composer textarea";

  let isByKeys = false;
  let place = null;
  document.addEventListener("keydown", () => (isByKeys = true), true);
  document.addEventListener("pointerdown", () => (isByKeys = false), true);
  document.addEventListener("focusin", ({ target }) => {
    const name = [...target.classList].find((one) => one.startsWith(DOES));
    place = { target, name, side: target.closest("#left, #right")?.id };
  });

  const isLost = () => place && !place.target.isConnected && document.activeElement === document.body;
  const giveBack = () => {
    if (!isByKeys || !isLost()) return;
    const { name, side } = place;
    const found = [name && `.${CSS.escape(name)}`, NEAREST[side], COMPOSER].map((one) => one && document.querySelector(one));
    found.find((one) => one?.checkVisibility({ visibilityProperty: true }))?.focus({ preventScroll: true });
  };
  // A dialog that closes, and a panel, give the focus back themselves, in the frame that follows.
  const look = () => isByKeys && isLost() && requestAnimationFrame(() => requestAnimationFrame(giveBack));
  new MutationObserver(look).observe(document, { subtree: true, childList: true });
})();
