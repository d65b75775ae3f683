/* What the keyboard does beside typing: `/` offers the commands, the up arrow opens the last message again, `?` shows
   all keys. */
(() => {
  const { send, panels } = window.palimpsest;
  const composer = () => document.querySelector("#composer textarea");
  const list = () => document.querySelector("#commands .p-commands");
  const rows = () => [...(list()?.querySelectorAll(".p-command-row") ?? [])].filter((row) => !row.hidden);

  let isAsked = false;
  let isPutAway = false;
  const typed = () => /^\/(\S*)$/.exec(composer()?.value ?? "");
  const isShown = () => list() !== null && !list().hidden && rows().length > 0;

  const choose = (row) => {
    for (const other of rows()) other.setAttribute("aria-selected", String(other === row));
    row?.scrollIntoView({ block: "nearest" });
    composer().setAttribute("aria-activedescendant", row?.id ?? "");
  };
  const chosen = () => rows().find((row) => row.getAttribute("aria-selected") === "true");

  const draw = () => {
    const start = typed();
    if (!start) isPutAway = false;
    if (start && !isAsked) {
      isAsked = true;
      send("list-commands", "");
    }
    const menu = list();
    if (!menu) return;
    const box = composer();
    menu.hidden = !start || isPutAway;
    const beginning = start?.[1].toLowerCase() ?? "";
    for (const row of menu.querySelectorAll(".p-command-row")) row.hidden = !row.dataset.name.startsWith(beginning);
    if (!rows().length) menu.hidden = true;
    if (!menu.hidden && !chosen()) choose(rows()[0]);
    if (menu.hidden) box.removeAttribute("aria-activedescendant");
  };

  const take = (row) => {
    const box = composer();
    box.value = `/${row.dataset.name} `;
    box.dispatchEvent(new Event("input", { bubbles: true }));
    box.focus();
    draw();
  };

  const move = (step) => {
    const all = rows();
    choose(all[(all.indexOf(chosen()) + step + all.length) % all.length]);
  };

  document.addEventListener("input", (event) => event.target === composer() && draw());
  document.addEventListener("pointerdown", (event) => {
    const row = event.target.closest?.("#commands .p-command-row");
    if (!row) return;
    event.preventDefault();
    take(row);
  });

  const inMenu = (event) => {
    if (event.target !== composer() || !isShown()) return false;
    switch (event.key) {
      case "ArrowDown":
        move(1);
        return true;
      case "ArrowUp":
        move(-1);
        return true;
      case "Escape":
        isPutAway = true;
        draw();
        return true;
      case "Tab":
        take(chosen());
        return true;
      case "Enter":
        // A command that is typed out is sent.
        if (event.shiftKey || chosen()?.dataset.name === typed()[1].toLowerCase()) return false;
        take(chosen());
        return true;
      default:
        return false;
    }
  };

  /* An approval that has the focus is answered by a letter. */
  const ANSWERS = { y: ".p-key-y", c: ".p-key-c", a: ".p-key-a", n: ".p-key-n" };
  const answered = (event) => {
    const card = event.target.closest?.(".p-approval");
    if (!card || event.repeat) return false;
    const isReason = event.target.matches("input");
    if (isReason && event.key !== "Enter") return false;
    const button = isReason ? card.querySelector(ANSWERS.n) : card.querySelector(ANSWERS[event.key] ?? "none");
    button?.click();
    return Boolean(button);
  };

  const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable], .cm-editor");
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (answered(event)) {
        event.preventDefault();
        event.stopImmediatePropagation();
        return;
      }
      if (inMenu(event)) {
        event.preventDefault();
        event.stopImmediatePropagation();
        return;
      }
      if (event.key === "ArrowUp" && event.target === composer() && composer().value === "") {
        const pencils = document.querySelectorAll("#chat .m-person .p-pencil button");
        if (!pencils.length) return;
        event.preventDefault();
        pencils[pencils.length - 1].click();
      }
      if (event.key === "?" && !isTyping(event.target) && !panels.isOver()) {
        event.preventDefault();
        send("open-keys", "");
      }
    },
    true,
  );

  /* The editor of a memory file: Tab leaves it, as it does any other field. */
  document.addEventListener(
    "keydown",
    (event) => event.key === "Tab" && event.target.closest?.("#editor .cm-content") && event.stopImmediatePropagation(),
    true,
  );
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s" && panels.isOpen("right")) {
      event.preventDefault();
      document.querySelector("#save")?.click();
    }
    if ((event.ctrlKey || event.metaKey) && event.key === ",") {
      event.preventDefault();
      send("open-settings", "models");
    }
  });

  window.palimpsest.drawCommands = draw;
})();
