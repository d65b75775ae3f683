/* The panels: beside the conversation on a wide screen, as they were left; below that drawers over the page, one at a
   time. What is under a drawer or a dialog is dimmed and cannot be reached, and the focus comes back when it closes. */
(() => {
  const root = document.documentElement;
  const wide = matchMedia("(min-width: 1200px)");
  const SIDES = ["left", "right"];
  const CLOSED = { left: "rail", right: "closed" };
  const WORDS = __WORDS__;
  const NAMES = { left: WORDS.left, right: WORDS.right };
  const UNDER = ["left", "centre", "right"];

  const stored = (side) => {
    try {
      return localStorage.getItem(`palimpsest-${side}`);
    } catch {
      return null;
    }
  };
  const store = (side, state) => {
    try {
      localStorage.setItem(`palimpsest-${side}`, state);
    } catch {
      // A browser that keeps nothing begins anew each time.
    }
  };

  const docked = { left: stored("left") === "rail" ? "rail" : "open", right: stored("right") === "open" ? "open" : "closed" };
  let drawer = "";
  let isDialogOpen = false;
  let returns = { drawer: null, dialog: null };

  const element = (side) => document.getElementById(side);
  const isDrawer = () => !wide.matches;
  const stateOf = (side) => (wide.matches ? docked[side] : drawer === side ? "open" : "closed");
  const isOpen = (side) => stateOf(side) === "open";
  /* What is slid in can be focused at once, or in the frame that draws it; what is slid out again is left alone. */
  const FRAMES = 10;
  const focusIn = (side, target, left = FRAMES) => {
    if (!target || !isOpen(side)) return;
    target.focus({ preventScroll: true });
    if (document.activeElement !== target && left) requestAnimationFrame(() => focusIn(side, target, left - 1));
  };

  const dim = document.createElement("div");
  dim.id = "p-dim";
  dim.addEventListener("click", () => (isDialogOpen ? dialogClose()?.click() : close()));
  const dialogClose = () => document.querySelector("#dialog .p-close");

  const draw = () => {
    for (const side of SIDES) if (root.dataset[side] !== stateOf(side)) root.dataset[side] = stateOf(side);
    const over = isDialogOpen ? "dialog" : isDrawer() ? drawer : "";
    if (root.dataset.over !== over) root.dataset.over = over;
    for (const side of UNDER) {
      const part = element(side);
      const isUnder = over !== "" && over !== side;
      if (part && part.inert !== isUnder) part.inert = isUnder;
    }
    for (const side of SIDES) {
      const panel = element(side);
      if (!panel) continue;
      const [role, name] = [over === side ? "dialog" : "region", NAMES[side]];
      if (panel.getAttribute("role") !== role) {
        panel.setAttribute("role", role);
        panel.setAttribute("aria-label", name);
        if (over === side) panel.setAttribute("aria-modal", "true");
        else panel.removeAttribute("aria-modal");
      }
    }
    // The only one that is there whether its panel is open or folded.
    const fold = document.querySelector("#left .p-fold");
    const text = isOpen("left") ? WORDS.hide_left : WORDS.show_left;
    if (fold && fold.getAttribute("aria-label") !== text) fold.setAttribute("aria-label", text);
  };

  const closer = (side) => element(side)?.querySelector(side === "left" ? ".p-fold" : "#close-right button");
  const open = (side, first = closer(side)) => {
    if (isOpen(side)) return;
    if (isDrawer()) {
      returns.drawer ??= document.activeElement;
      drawer = side;
      draw();
      focusIn(side, first);
    } else {
      const hadFocus = element(`open-${side}`)?.contains(document.activeElement);
      docked[side] = "open";
      store(side, "open");
      draw();
      if (hadFocus) focusIn(side, first);
    }
  };
  const close = (side = drawer) => {
    if (!side || !isOpen(side)) return;
    if (isDrawer()) {
      const before = returns.drawer;
      returns.drawer = null;
      drawer = "";
      draw();
      const opener = document.querySelector(`#open-${side} button`);
      (before?.isConnected && before !== document.body ? before : opener)?.focus({ preventScroll: true });
    } else {
      const hadFocus = element(side)?.contains(document.activeElement);
      docked[side] = CLOSED[side];
      store(side, CLOSED[side]);
      draw();
      if (side === "right" && hadFocus) document.querySelector("#open-right button")?.focus();
    }
  };
  const closeDrawer = () => isDrawer() && close();
  const toggle = (side) => (isOpen(side) ? close(side) : open(side));

  /* A dialog has the focus as long as it is there; what comes in its place keeps it. */
  const watchDialog = () => {
    const dialog = document.querySelector("#dialog .p-dialog");
    if (Boolean(dialog) === isDialogOpen) return;
    isDialogOpen = Boolean(dialog);
    if (dialog) {
      returns.dialog = document.activeElement;
      dialog.setAttribute("aria-modal", "true");
      return draw();
    }
    draw();
    const before = returns.dialog;
    returns.dialog = null;
    if (before?.isConnected && before !== document.body) before.focus({ preventScroll: true });
    else document.querySelector("#composer textarea")?.focus({ preventScroll: true });
  };

  /* The tab has a dot from when memory changes until it is looked at. */
  let seen = null;
  const markNews = () => {
    const news = document.querySelector("#open-right .p-news");
    const given = document.querySelector("#file-head [data-given]")?.dataset.given;
    if (!news || !given) return;
    const changed = [...document.querySelectorAll("#files .p-dot-changed")].map((dot) => dot.parentElement.textContent);
    const mark = [given, ...changed].join("\n");
    if (isOpen("right") || seen === null) seen = mark;
    const isNew = mark !== seen;
    if (news.hidden === isNew) news.hidden = !isNew;
  };

  const look = () => {
    watchDialog();
    markNews();
    draw();
  };

  wide.addEventListener("change", () => {
    drawer = "";
    returns.drawer = null;
    draw();
  });
  draw();
  const settle = () => {
    if (UNDER.some((side) => !element(side))) return setTimeout(settle, 50);
    document.body.append(dim);
    draw();
    root.classList.add("p-settled");
  };
  settle();

  const isOver = () => drawer !== "";
  Object.assign(window.palimpsest, { panels: { open, close, closeDrawer, toggle, isOpen, isDrawer, isOver, look } });
})();
