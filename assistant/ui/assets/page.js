/* The page's own script: one click listener for every card, folds that stay open, names for icon buttons, keys. */
(() => {
  const TOKEN = "__TOKEN__";
  const WORDS = __WORDS__;
  const NEWS_MILLISECONDS = 2000;
  // What opens its answer in the Memory tab, and what is done there.
  const TASKS = new Set(["forget-words", "forget-change"]);
  // What shows something in the conversation.
  const LEAVES_DRAWER = new Set(["open-session", "open-message", "open-settings", "open-trash", "transcript"]);
  const { panels } = window.palimpsest;
  const MEMORY_ACTION = /^(open-(file|hit)|memory-.*|notes-.*|forget-.*|tidy-.*|pending-.*|work-close)$/;
  // Every name of Gradio's own page that we rely on stands here and at the top of page.css.
  const GRADIO = {
    contextTab: "#tab-context-button",
    newChat: "#new-chat",
    send: "#composer .submit-button",
    stop: "#stop button",
    composer: "#composer textarea",
    editor: "#editor .cm-content",
    transcript: "#chat",
    edit: "#edit-text textarea",
    cancelEdit: "#cancel-edit",
    search: "#search textarea, #search input",
    hit: "#hits .p-hit",
    fileName: "#file-head h2",
  };

  /* Days begin at midnight where the person is. */
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone) document.cookie = `palimpsest_zone=${zone}; path=/; SameSite=Strict`;

  const channels = {};

  const decode = (coded) => {
    const bytes = atob(coded.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));
  };

  const encode = (text) => {
    const bytes = String.fromCharCode(...new TextEncoder().encode(text));
    return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  };

  const classStarting = (element, prefix) => [...element.classList].find((name) => name.startsWith(prefix));

  const send = (action, target) => {
    if (sessionEdit[action]) return sessionEdit[action](target);
    if (atOnce[action]) return atOnce[action]();
    const channel = MEMORY_ACTION.test(action) ? "memory-actions" : "chat-actions";
    if (action === "open-file" || action === "open-hit" || TASKS.has(action)) panels.open("right");
    if (action === "open-hit") showLine(target);
    if (action === "memory-line") target = `${target}:${cursorLine()}`;
    if (LEAVES_DRAWER.has(action)) panels.closeDrawer();
    noteListPlace(action);
    channels[channel]?.("select", { action, target_id: target, given: givenMark() });
  };

  /* A button that gathers sends the words and the ticks of its card along. */
  const gathered = (button, target) => {
    const form = button.closest(".p-form");
    const ticks = [...form.querySelectorAll("input[type=checkbox]:checked")].map((box) => box.value);
    const filled = [...form.querySelectorAll("[name]:is(select, input:not([type=radio]), input:checked):enabled")];
    const fields = Object.fromEntries(filled.map((field) => [field.name, field.value]));
    return JSON.stringify({ target, text: form.querySelector(".p-field")?.value ?? "", ticks, fields });
  };

  /* A hit opens its file at its line, once the editor holds that file. */
  let wantedLine = 0;
  const showLine = (target) => {
    const at = target.lastIndexOf(":");
    const [path, number] = [target.slice(0, at), Number(target.slice(at + 1))];
    const generation = ++wantedLine;
    const look = (left) => {
      if (generation !== wantedLine || !left) return;
      const view = editorView();
      const isThere = document.querySelector(GRADIO.fileName)?.textContent === path;
      if (!view || !isThere || view.state.doc.lines < number) return setTimeout(look, 100, left - 1);
      const { from, to } = view.state.doc.line(number);
      view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
      // In the middle rather than at the edge, once the editor has drawn what is there.
      requestAnimationFrame(() => {
        view.scrollDOM.scrollTop = view.lineBlockAt(from).top - view.scrollDOM.clientHeight / 2;
      });
      view.focus();
    };
    setTimeout(look, 250, 40);
  };

  /* The search box: Enter opens the first hit, also one that is still on its way; arrows go to the others. */
  let isOpening = false;
  const searchBox = () => document.querySelector(GRADIO.search);
  const asked = () => (searchBox()?.value ?? "").trim().split(/\s+/).join(" ");
  const openFirst = () => {
    const card = document.querySelector("#hits .p-hits");
    if (!isOpening || card?.dataset.query !== asked()) return;
    isOpening = false;
    document.querySelector(GRADIO.hit)?.click();
  };
  const endSearch = () => {
    const box = searchBox();
    isOpening = false;
    box.value = "";
    box.dispatchEvent(new Event("input", { bubbles: true }));
    // A drawer gives the focus back to where it was.
    if (panels.isDrawer()) panels.closeDrawer();
    else document.querySelector(GRADIO.composer)?.focus();
  };
  const moveInHits = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [searchBox(), ...document.querySelectorAll(GRADIO.hit)];
    const at = stops.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    stops[Math.max(0, Math.min(stops.length - 1, at + step))].focus();
  };
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.isComposing) return;
      const isInBox = event.target === searchBox();
      if (!isInBox && !event.target.matches?.(GRADIO.hit)) return;
      moveInHits(event);
      if (event.key === "Enter" && isInBox) {
        event.preventDefault();
        isOpening = asked() !== "";
        openFirst();
      } else if (isInBox && event.key.length === 1) isOpening = false;
      if (event.key === "Escape") {
        event.stopPropagation();
        endSearch();
      }
    },
    true,
  );

  /* A conversation is renamed, or moved to the trash, in its own line; what is typed outlives a redraw of the list. */
  let edited = null;
  const editBox = () => document.querySelector("#sessions .p-session-edit");
  const endEdit = () => {
    editBox()?.remove();
    edited = null;
  };
  const drawEdit = () => {
    if (!edited || editBox()) return;
    const row = document.querySelector(`#sessions .${TOKEN}-do--edit-session--${edited.coded}`)?.parentElement;
    const form = document.querySelector("#sessions template.p-session-form");
    if (!row || !form) return;
    row.append(form.content.cloneNode(true));
    const box = editBox();
    const input = box.querySelector("input");
    input.value = edited.text ?? row.querySelector(".p-session-title").textContent;
    if (edited.isNew) input.select();
    // The field before was taken away with its focus.
    else if (document.activeElement === document.body) {
      input.focus();
      input.setSelectionRange(...edited.place);
    }
    edited.isNew = false;
    const one = edited;
    const keep = () => Object.assign(one, { text: input.value, place: [input.selectionStart, input.selectionEnd] });
    for (const kind of ["input", "keyup", "select"]) input.addEventListener(kind, keep);
    keep();
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) sessionEdit["session-rename"]();
    });
  };
  const withEdited = (act) => {
    const { id } = edited ?? {};
    endEdit();
    if (id) act(id);
  };
  const sessionEdit = {
    "edit-session": (target) => {
      const isOpen = edited?.id === target;
      endEdit();
      if (isOpen) return;
      edited = { id: target, coded: encode(target), isNew: true };
      drawEdit();
    },
    "session-link": () => {
      const url = new URL(window.location.pathname, window.location.href);
      if (edited) url.searchParams.set("c", edited.id);
      endEdit();
      navigator.clipboard?.writeText(url.href).catch(() => {});
    },
    "session-cancel": () => endEdit(),
    "session-rename": () => {
      const title = editBox()?.querySelector("input")?.value.trim();
      const { id } = edited ?? {};
      endEdit();
      if (id && title) send("rename-session", `${id} ${title}`);
    },
    "session-trash": () => withEdited((id) => send("trash-session", id)),
    "session-markdown": () => withEdited((id) => window.palimpsest.conversations.exportOne(id, "markdown")),
    "session-json": () => withEdited((id) => window.palimpsest.conversations.exportOne(id, "json")),
    "session-pin": () => withEdited((id) => send("pin-session", id)),
    "session-unpin": () => withEdited((id) => send("unpin-session", id)),
  };

  /* The list of conversations: what is typed into its filter is asked for once it rests, and the last words count. */
  const FILTER_MILLISECONDS = 150;
  const filterBox = () => document.querySelector("#list-filter .p-filter");
  const filtered = () => (filterBox()?.value ?? "").trim().split(/\s+/).join(" ");
  let filterTimer = 0;
  const filterSoon = () => {
    clearTimeout(filterTimer);
    filterTimer = setTimeout(() => send("list-named", filtered()), FILTER_MILLISECONDS);
  };

  // An answer to earlier words that came late, or a list that knows nothing of them after a reload.
  let askedAgain = null;
  const keepFilter = () => {
    const list = document.querySelector("#sessions nav");
    const words = filtered();
    if (!list || list.dataset.words === words || askedAgain === words) return;
    askedAgain = words;
    filterSoon();
  };

  /* Where the list grows, the row beside the button stays in place and the keyboard goes on there; a jump is seen from its top. */
  let listPlace = null;
  const SESSION = `${TOKEN}-do--open-session--`;
  const listedRows = () => [...document.querySelectorAll("#sessions li .p-session")];
  const namesOf = (rows) => rows.map((row) => classStarting(row, SESSION));
  const noteListPlace = (action) => {
    const rows = listedRows();
    const others = rows.filter((row) => !row.classList.contains("p-selected"));
    const stays = action === "list-older" ? others.at(-1) : action === "list-newer" ? others[0] : null;
    const isJump = action === "list-from" || action === "list-newest";
    listPlace = stays || isJump ? { before: namesOf(rows).join() } : null;
    if (stays) Object.assign(listPlace, { name: classStarting(stays, SESSION), top: stays.getBoundingClientRect().top });
  };
  const keepListPlace = () => {
    const rows = listPlace ? listedRows() : [];
    if (!listPlace || namesOf(rows).join() === listPlace.before) return;
    const { name, top } = listPlace;
    listPlace = null;
    const panel = document.querySelector("#left");
    const row = rows.find((one) => one.classList.contains(name));
    if (!name) panel.scrollTop = 0;
    if (!row) return;
    panel.scrollTop += row.getBoundingClientRect().top - top;
    row.focus({ preventScroll: true });
  };

  const editorView = () => document.querySelector(GRADIO.editor)?.cmTile?.root?.view;
  const cursorLine = () => {
    const state = editorView()?.state;
    return state ? state.doc.lineAt(state.selection.main.head).number : 1;
  };

  /* The editor's words, or a short word where they are those it was given; the server makes the same digest. */
  const EDGE = /[\s\x1c-\x1f\x85\ufeff]/;
  let hashed = { words: null, digest: "" };
  const digestOf = async (words) => {
    if (hashed.words === words) return hashed.digest;
    const text = words.replace(/\r\n?/g, "\n");
    let [start, end] = [0, text.length];
    while (start < end && EDGE.test(text[start])) start++;
    while (end > start && EDGE.test(text[end - 1])) end--;
    const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text.slice(start, end)));
    const digest = [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    hashed = { words, digest };
    return digest;
  };
  const givenMark = () => document.querySelector("#file-head [data-given]")?.dataset.given ?? "";
  const held = async (words) => {
    const given = givenMark();
    // Only a page from this machine or over TLS may make digests.
    const isUntouched = given && window.crypto?.subtle && (await digestOf(words ?? "")) === given;
    return isUntouched ? `${given}\nuntouched` : `${given}\nwords\n${words ?? ""}`;
  };

  /* What needs no server. */
  const search = () => {
    const box = searchBox();
    panels.open("left", box);
    // At once: the letter that is typed next belongs there.
    box?.focus({ preventScroll: true });
    box?.select();
  };
  const atOnce = {
    "import-session": () => window.palimpsest.conversations.pick(),
    "toggle-left": () => panels.toggle("left"),
    "toggle-right": () => panels.toggle("right"),
    "search": () => search(),
    "show-context": () => {
      panels.open("right");
      document.querySelector(GRADIO.contextTab)?.click();
    },
  };

  /* The number of the newest whole drawing that came, and the version of the conversation. */
  const shownNow = () => {
    const number = document.querySelector("#drawing [data-number]")?.dataset.number ?? "0";
    return `${number}.${window.palimpsest.transcript.version()}`;
  };

  /* What changed without this tab's doing. Only where there is any, or nobody answers, an event of the page asks. */
  const askForNews = async () => {
    const tab = window.palimpsest.transcript.tab();
    if (!tab) return;
    let isNews = true;
    try {
      const [given, kind] = (await held(editorView()?.state.doc.toString())).split("\n", 2);
      const edited = kind === "untouched" ? "0" : "1";
      const query = new URLSearchParams({ session_hash: tab, given, edited, shown: shownNow() });
      const answer = await fetch(`news?${query}`);
      isNews = !answer.ok || (await answer.json()).news;
    } catch {
      // The server is gone; the event finds out whether it comes back.
    }
    if (isNews) channels.news?.("select", {});
  };
  const keepAsking = () => askForNews().finally(() => setTimeout(keepAsking, NEWS_MILLISECONDS));
  setTimeout(keepAsking, NEWS_MILLISECONDS);
  addEventListener("pagehide", () => {
    const tab = window.palimpsest.transcript.tab();
    if (tab) navigator.sendBeacon("leave", JSON.stringify({ session_hash: tab }));
  });
  // A page that comes back as it was has been forgotten meanwhile.
  addEventListener("pageshow", ({ persisted }) => persisted && send("draw-all", ""));

  Object.assign(window.palimpsest, {
    held,
    connect(id, trigger) {
      channels[id] = trigger;
    },
    isConnected: (id) => id in channels,
    openAgain: (root) => openAgain(root),
    send,
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest?.(GRADIO.newChat)) {
      panels.closeDrawer();
      window.palimpsest.transcript.focusComposer();
    }
    const button = event.target.closest?.(`button.${TOKEN}`);
    const name = button && classStarting(button, `${TOKEN}-do--`);
    if (!name) return;
    event.preventDefault();
    const [action, coded] = name.slice(`${TOKEN}-do--`.length).split("--");
    const target = decode(coded ?? "");
    if (action === "copy") copying = button;
    // What is allowed has been seen: a rest that is closed opens in place of the answer.
    const allows = action === "allow" || action.startsWith("allow-");
    const rest = allows && button.closest(".p-approval")?.querySelector("details.p-rest:not([open])");
    if (rest) {
      rest.open = true;
      rest.scrollIntoView({ block: "start" });
      return;
    }
    // An answered card goes away with its focus.
    if (allows || action === "deny") window.palimpsest.transcript.focusComposer();
    send(action, button.classList.contains("p-gathers") ? gathered(button, target) : target);
  });

  document.addEventListener("click", (event) => {
    const form = event.target.closest?.(".p-tick-all")?.closest(".p-form");
    for (const box of form?.querySelectorAll("input[type=checkbox]") ?? []) box.checked = true;
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches?.(".p-day") && event.target.value) send("notes-day", event.target.value);
    if (event.target.matches?.(".p-month") && event.target.value) send("list-from", event.target.value);
  });
  document.addEventListener("input", (event) => event.target.matches?.(".p-filter") && filterSoon());

  /* Folds: a message is drawn anew while it grows; what was open stays open. */
  const openFolds = new Set();
  document.addEventListener(
    "toggle",
    (event) => {
      const name = event.target.classList && classStarting(event.target, `${TOKEN}-fold--`);
      if (!name) return;
      if (event.target.open) openFolds.add(name);
    },
    true,
  );
  // The toggle comes later than the click, and never to a fold that was drawn anew between them.
  document.addEventListener("click", (event) => {
    const fold = event.target.closest?.("summary")?.parentElement;
    const name = fold && classStarting(fold, `${TOKEN}-fold--`);
    if (!name) return;
    if (fold.open) openFolds.delete(name);
    else openFolds.add(name);
  });

  const openAgain = (root) => {
    for (const fold of root.querySelectorAll(`details[class*="${TOKEN}-fold--"]:not([open])`))
      if (openFolds.has(classStarting(fold, `${TOKEN}-fold--`))) fold.open = true;
  };

  const label = (selector, text) => {
    for (const element of document.querySelectorAll(selector))
      if (element.getAttribute("aria-label") !== text) element.setAttribute("aria-label", text);
  };

  const nameThings = () => {
    label(GRADIO.send, WORDS.send_message);
    label(GRADIO.stop, WORDS.stop_answer);
    label(GRADIO.composer, WORDS.message);
    label(GRADIO.edit, WORDS.edited_message);
    label(GRADIO.search, WORDS.search);
    label(GRADIO.editor, WORDS.memory_file);
    openAgain(document);
  };

  /* The address names the open conversation, so that a reload finds it again, and the browser's Back the one before. */
  let isNamed = false;
  const addressed = () => new URL(window.location.href).searchParams.get("c") ?? "";
  const nameAddress = () => {
    const list = document.querySelector(".p-address");
    const coded = list && classStarting(list, `${TOKEN}-at--`)?.slice(`${TOKEN}-at--`.length);
    if (coded === undefined || coded === null) return;
    const url = new URL(window.location.href);
    const wanted = decode(coded);
    // On its way to another one; the list still names that before.
    if (awaited !== null && wanted !== awaited) return;
    awaited = null;
    if (addressed() !== wanted) {
      if (wanted) url.searchParams.set("c", wanted);
      else url.searchParams.delete("c");
      window.history[isNamed ? "pushState" : "replaceState"](null, "", url);
    }
    isNamed = true;
  };
  let awaited = null;
  addEventListener("popstate", () => {
    awaited = addressed();
    if (awaited) send("open-session", awaited);
    else document.querySelector(GRADIO.newChat)?.click();
    // What cannot be opened leaves the page, and so its address, as it is.
    setTimeout(() => (awaited = null), 3000);
  });

  let copying = null;
  const copyWhatCame = () => {
    const element = document.querySelector(`#copied .${TOKEN}-copied`);
    if (!element || element.dataset.done) return;
    element.dataset.done = "yes";
    const button = copying;
    navigator.clipboard?.writeText(element.textContent).then(
      () => button && window.palimpsest.transcript.confirmCopy(button),
      () => {},
    );
  };

  const showDialog = () => {
    const dialog = document.querySelector("#dialog .p-dialog");
    if (!dialog || dialog.dataset.shown) return;
    dialog.dataset.shown = "yes";
    (dialog.querySelector("[aria-current]") ?? dialog.querySelector(".p-close"))?.focus();
  };

  /* The words around the conversation are in another language now. */
  const loadAgain = () => {
    if (document.querySelector("#dialog .p-load-again")) window.location.reload();
  };

  /* A key that was taken is in the page no more. */
  const dropKeys = () => {
    if (!document.querySelector(".p-settings .p-report-ok")) return;
    for (const field of document.querySelectorAll(".p-settings input[type=password]")) field.value = "";
  };

  /* What came of a try of a model comes into view, once: the form may be longer than the window. */
  let shownReport = "";
  const showReport = () => {
    const report = document.querySelector(".p-settings-report");
    const said = report?.textContent ?? "";
    if (said !== shownReport) report?.scrollIntoView({ block: "nearest" });
    shownReport = said;
  };

  /* What was asked for in the Memory tab comes into view, and its field is ready. */
  const showTask = () => {
    const task = document.querySelector("#memory-work .p-task");
    if (!task || task.dataset.shown) return;
    task.dataset.shown = "yes";
    task.scrollIntoView({ block: "nearest" });
    task.querySelector(".p-field")?.focus({ preventScroll: true });
  };

  /* The box for an edited message has the caret at once, behind the last word. */
  const showEdit = () => {
    const box = document.querySelector(GRADIO.edit);
    if (!box || box.dataset.shown) return;
    box.dataset.shown = "yes";
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
  };

  let isDue = false;
  const lookAgain = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      nameThings();
      panels.look();
      window.palimpsest.drawAppearance();
      window.palimpsest.drawCommands();
      nameAddress();
      copyWhatCame();
      loadAgain();
      showDialog();
      dropKeys();
      showReport();
      showTask();
      showEdit();
      drawEdit();
      keepListPlace();
      keepFilter();
      openFirst();
    });
  };

  const ready = () => {
    // The conversation looks after itself: a word that streams in is no reason to look through the page.
    const isElsewhere = ({ target }) => !target.closest?.(GRADIO.transcript);
    new MutationObserver((records) => records.some(isElsewhere) && lookAgain()).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ["class"],
    });
    lookAgain();
  };
  if (document.body) ready();
  else document.addEventListener("DOMContentLoaded", ready);

  /* Words that were not sent yet outlive a reload, also the one that follows a restart of the program. */
  const DRAFT = "palimpsest-draft";
  addEventListener("pagehide", () => {
    const written = document.querySelector(GRADIO.composer)?.value;
    const text = [...window.palimpsest.transcript.unsent(), written].filter(Boolean).join("\n");
    if (text) sessionStorage.setItem(DRAFT, text);
  });
  const restoreDraft = () => {
    const box = document.querySelector(GRADIO.composer);
    if (!box) return setTimeout(restoreDraft, 50);
    const text = sessionStorage.getItem(DRAFT);
    sessionStorage.removeItem(DRAFT);
    if (!text || box.value) return;
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  restoreDraft();

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target.matches?.(".p-form .p-field")) {
      event.preventDefault();
      event.target.closest(".p-form").querySelector(".p-gathers").click();
    }
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      search();
    }
    if (event.key === "Escape" && !event.isComposing) {
      const close = document.querySelector("#dialog .p-close");
      if (!close && editBox()) return endEdit();
      if (!close && panels.isOver()) return panels.closeDrawer();
      (close ?? document.querySelector(GRADIO.cancelEdit) ?? document.querySelector(GRADIO.stop))?.click();
    }
  });
})();
