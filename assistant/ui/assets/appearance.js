/* What is kept in this browser: how the page looks, set before anything is drawn, and whether it may notify. */
(() => {
  const root = document.documentElement;
  const KEPT = { theme: "auto", density: "roomy", notify: "off" };
  const read = (name) => {
    try {
      return localStorage.getItem(`palimpsest-${name}`) ?? KEPT[name];
    } catch {
      return KEPT[name];
    }
  };
  // An address that names a theme wins, as it does for Gradio.
  const asked = new URLSearchParams(location.search).get("__theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => ({ light: false, dark: true })[asked ?? read("theme")] ?? system.matches;

  /* What a phone, or a window of its own, draws about the page has the colour of its paper. */
  let isFramedDark = null;
  const drawFrame = () => {
    if (!document.body || isFramedDark === isDark()) return;
    isFramedDark = isDark();
    const paper = getComputedStyle(document.body).getPropertyValue("--p-paper");
    for (const frame of document.querySelectorAll("meta[name=theme-color]")) frame.content = paper;
  };

  const draw = () => {
    root.dataset.density = read("density");
    if (document.body && document.body.classList.contains("dark") !== isDark()) document.body.classList.toggle("dark");
    drawFrame();
    for (const select of document.querySelectorAll(".p-of-browser"))
      if (!select.dataset.shown) {
        select.dataset.shown = "yes";
        select.value = read(select.dataset.kept);
      }
  };
  document.addEventListener("change", (event) => {
    const select = event.target.closest?.(".p-of-browser");
    if (!select) return;
    try {
      localStorage.setItem(`palimpsest-${select.dataset.kept}`, select.value);
    } catch {
      // A browser that keeps nothing begins anew each time.
    }
    draw();
  });
  system.addEventListener("change", draw);
  draw();
  window.palimpsest = { drawAppearance: draw, kept: read };
})();
