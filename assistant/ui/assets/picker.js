/* The list of who can answer, over the composer: it closes by itself, and the arrows go through it. */
(() => {
  const picker = () => document.querySelector("#who-answers details[open]");
  const head = (open) => open.querySelector("summary");
  const rows = (open) => [...open.querySelectorAll(".p-pick")];

  const close = (open, returnsFocus) => {
    open.open = false;
    if (returnsFocus) head(open).focus();
  };

  document.addEventListener("click", (event) => {
    const open = picker();
    if (!open) return;
    const row = event.target.closest?.("#who-answers .p-pick");
    if (row || !open.contains(event.target)) close(open, false);
    if (row && !row.matches(".p-pick-more")) document.querySelector("#composer textarea")?.focus();
  });
  document.addEventListener("focusin", (event) => {
    const open = picker();
    if (open && !open.contains(event.target)) close(open, false);
  });
  document.addEventListener(
    "keydown",
    (event) => {
      const open = picker();
      if (!open || !open.contains(event.target) || event.isComposing) return;
      const all = [head(open), ...rows(open)];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) all[(all.indexOf(event.target) + step + all.length) % all.length].focus();
      else if (event.key === "Escape") close(open, true);
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
})();
