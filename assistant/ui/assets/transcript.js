/* The conversation: patches to keyed nodes, a view that follows only at its end, messages taken from the composer. */
(() => {
  const WORDS = __WORDS__;
  const { attachments } = window.palimpsest;
  const END_PIXELS = 24;
  const ACK_MILLISECONDS = 10000;
  const EARLY_MILLISECONDS = 1500;
  const ASK_MILLISECONDS = 700;
  const FIRST_WORD_MILLISECONDS = 5000;
  const WITHOUT_MILLISECONDS = 30000;
  const SLOTS = 3;
  const SPEECH_MILLISECONDS = 5000;
  const CODE_END = "</code></pre></figure>";

  let scroller, column, toEnd, speaker;
  let version = 0;
  let session = null;
  let tab = "";
  let isFollowing = true;
  const nodes = new Map();

  /* ---- drawing ---- */

  /* What a block holds, as a class of its own: a style that looks into it costs every word that streams in. */
  const KINDS = Object.entries({
    "m-card": ".__TOKEN__",
    "m-heading": "h3, h4, h5, h6",
    "m-waits": ".p-queued",
    "m-edits": ".p-own",
  });
  const setBlock = (element, html) => {
    element.source = html;
    element.innerHTML = html;
    const held = [...element.children];
    for (const [name, selector] of KINDS) element.classList.toggle(name, held.some((one) => one.matches(selector)));
    dress(element);
    attachments.showPictures(element);
    window.palimpsest.openAgain(element);
  };

  const block = (html) => {
    const element = document.createElement("div");
    element.className = "m-block";
    setBlock(element, html);
    return element;
  };

  const operations = {
    insert(key, role, before, blocks, isGrowing) {
      const article = document.createElement("article");
      article.className = `m-node m-${role}`;
      article.dataset.key = key;
      article.setAttribute("aria-label", role === "person" ? WORDS.you : "Palimpsest");
      article.append(...blocks.map(block));
      article.classList.toggle("m-growing", isGrowing);
      column.insertBefore(article, nodes.get(before) ?? null);
      nodes.set(key, article);
    },
    remove(key) {
      nodes.get(key)?.remove();
      nodes.delete(key);
    },
    change(key, index, kept, ending) {
      const element = nodes.get(key).children[index];
      const old = element.source;
      const html = old.slice(0, kept) + ending;
      const isMoreCode = kept === old.length - CODE_END.length && old.endsWith(CODE_END) && html.endsWith(CODE_END);
      if (!isMoreCode) return setBlock(element, html);
      // Code that goes on is added to: what is there is not drawn again.
      element.querySelector("code").insertAdjacentHTML("beforeend", ending.slice(0, -CODE_END.length));
      element.source = html;
    },
    blocks(key, index, blocks) {
      const article = nodes.get(key);
      while (article.children.length > index) article.lastElementChild.remove();
      article.append(...blocks.map(block));
    },
    settle(key) {
      nodes.get(key).classList.remove("m-growing");
    },
  };

  /* Code gets its bar: the language, and what can be done with it. */
  const dress = (root) => {
    for (const figure of root.querySelectorAll("figure")) {
      const bar = document.createElement("figcaption");
      const name = document.createElement("span");
      name.textContent = figure.dataset.language || WORDS.text;
      bar.append(name, codeButton("wrap", WORDS.wrap, WORDS.wrap_lines), codeButton("copy", WORDS.copy, WORDS.copy_code));
      figure.prepend(bar);
      figure.querySelector("pre").tabIndex = 0;
    }
  };
  const codeButton = (kind, text, label) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: `m-code-button m-code-${kind}`, textContent: text });
    button.setAttribute("aria-label", label);
    if (kind === "wrap") button.setAttribute("aria-pressed", "false");
    return button;
  };
  const onCodeButton = (button) => {
    const figure = button.closest("figure");
    if (button.classList.contains("m-code-wrap")) {
      const isWrapped = figure.classList.toggle("m-wrapped");
      return button.setAttribute("aria-pressed", String(isWrapped));
    }
    navigator.clipboard?.writeText(figure.querySelector("code").textContent).then(() => confirmCopy(button), () => {});
  };
  const confirmCopy = (button) => {
    button.textContent = WORDS.copied;
    button.classList.add("m-copied");
    setTimeout(() => {
      button.textContent = WORDS.copy;
      button.classList.remove("m-copied");
    }, 1600);
  };

  /* All of the same conversation once more: what is as it was stays, with its place, its mark and its folds. */
  const isAsItWas = (article, role, blocks) =>
    article?.classList.contains(`m-${role}`) &&
    article.children.length === blocks.length &&
    blocks.every((html, index) => article.children[index].source === html);
  const forgetWhatChanged = (inserts) => {
    const kept = new Map();
    for (const [, key, role, , blocks] of inserts) {
      if (isAsItWas(nodes.get(key), role, blocks)) kept.set(key, nodes.get(key));
    }
    for (const article of [...column.children]) if (kept.get(article.dataset.key) !== article) article.remove();
    nodes.clear();
    return kept;
  };

  const apply = (patch) => {
    if (patch.base === null && patch.session === session) return applyAgain(patch);
    if (patch.base === null) {
      column.replaceChildren();
      nodes.clear();
    }
    const touched = new Set();
    const added = new Set();
    for (const [name, key, ...rest] of patch.ops) {
      operations[name](key, ...rest);
      if (nodes.has(key)) touched.add(nodes.get(key));
      if (name === "insert" && !rest[1] && patch.base !== null) added.add(nodes.get(key));
    }
    announce(touched, added);
  };

  const applyAgain = (patch) => {
    const kept = forgetWhatChanged(patch.ops);
    let place = column.firstElementChild;
    const touched = new Set();
    for (const [name, key, ...rest] of patch.ops) {
      const article = kept.get(key);
      if (!article) {
        operations[name](key, ...rest);
        touched.add(nodes.get(key));
      }
      const drawn = article ?? nodes.get(key);
      if (article) article.classList.toggle("m-growing", Boolean(rest[3]));
      if (drawn === place) place = place.nextElementSibling;
      else column.insertBefore(drawn, place);
      nodes.set(key, drawn);
    }
    announce(touched, new Set());
  };

  /* A patch builds on what is here. One that comes before its base waits a moment for it, as two ways lead here; where
     one is missing the tab asks once for all of it. */
  const early = new Map();
  let lateness = 0;
  const draw = (value) => {
    for (const [name, patch] of Object.entries(value ?? {})) take(Number(name), patch);
  };
  const take = (next, patch) => {
    if (patch.received) outbox.received(patch.received);
    // What was drawn over meanwhile says nothing new.
    if (next <= version) return;
    if (patch.base !== null && patch.base !== version) {
      early.set(patch.base, [next, patch]);
      lateness ||= setTimeout(askForAll, EARLY_MILLISECONDS);
      return;
    }
    put(next, patch);
    const following = early.get(version);
    early.delete(version);
    if (following) take(...following);
    else if (!early.size) lateness = clearTimeout(lateness) ?? 0;
  };
  const askForAll = () => {
    lateness = 0;
    const isMissing = [...early.values()].some(([next]) => next > version);
    early.clear();
    if (isMissing) window.palimpsest.send("draw-all", "");
  };
  const put = (next, patch) => {
    // A picture is asked for under the name of the tab.
    if (patch.tab) tab = patch.tab;
    const isOther = patch.base === null && patch.session !== session;
    keepingPlace(() => apply(patch), isOther || growsAtEnd(patch));
    if (patch.base === null) session = patch.session;
    version = next;
    if (isOther) {
      words.stop();
      begin();
    }
    if (patch.show) show(patch.show);
    if (patch.live !== undefined) words.follow(patch.live);
    if (patch.beside) window.palimpsest.send("catch-up", "");
  };

  /* ---- the words of an answer: they come on a stream of their own, and where there is none, when asked for ---- */

  const words = {
    isLive: false,
    source: null,
    leaveSlot: null,
    isBroken: false,
    withoutUntil: 0,
    timer: 0,
    follow(isLive) {
      this.isLive = isLive;
      if (!isLive) this.stop();
      else if (!this.source && !this.timer) this.read();
    },
    stop() {
      clearTimeout(this.timer);
      this.timer = 0;
      this.source?.close();
      this.source = null;
      this.leaveSlot?.();
      this.leaveSlot = null;
    },
    async read() {
      // Until it is known whether there is room.
      this.timer = -1;
      const leaveSlot = document.hidden || performance.now() < this.withoutUntil ? null : await takeSlot();
      this.timer = 0;
      if (!this.isLive || this.source) return leaveSlot?.();
      if (!leaveSlot) return this.askLater();
      this.leaveSlot = leaveSlot;
      this.open();
    },
    open() {
      const query = new URLSearchParams({ session_hash: tab, version: String(this.isBroken ? 0 : version) });
      this.isBroken = false;
      const source = (this.source = new EventSource(`patches?${query}`));
      let isHeard = false;
      // Something on the way may keep all of it until its end.
      this.timer = setTimeout(() => lost(), FIRST_WORD_MILLISECONDS);
      const lost = () => {
        if (this.source !== source) return;
        // What it was to bring may be lost.
        this.isBroken = true;
        if (!isHeard) this.withoutUntil = performance.now() + WITHOUT_MILLISECONDS;
        this.stop();
        if (this.isLive) this.askLater();
      };
      source.onmessage = ({ data }) => {
        if (!isHeard) this.timer = clearTimeout(this.timer) ?? 0;
        isHeard = true;
        draw(JSON.parse(data));
      };
      source.onerror = lost;
    },
    askLater() {
      this.timer = setTimeout(() => {
        this.timer = 0;
        if (!this.isLive) return;
        // Nobody looks at a page that is hidden, and what is said while it is comes with the page's own ticks.
        if (!document.hidden) window.palimpsest.send("catch-up", "");
        this.read();
      }, ASK_MILLISECONDS);
    },
  };
  document.addEventListener("visibilitychange", () => {
    if (!words.isLive) return;
    words.stop();
    words.askLater();
  });

  /* A browser has six connections to a server for all its tabs together: only so many of them may be held. */
  const takeSlot = async () => {
    // Pages that are not from this machine and not encrypted have no locks.
    if (!navigator.locks) return () => {};
    for (let slot = 0; slot < SLOTS; slot++) {
      const leave = await new Promise((resolve) => {
        const hold = (lock) => (lock ? new Promise((release) => resolve(release)) : resolve(null));
        navigator.locks.request(`palimpsest-words-${slot}`, { ifAvailable: true }, hold).catch(() => resolve(null));
      });
      if (leave) return leave;
    }
    return null;
  };

  /* ---- reading ---- */

  const isAtEnd = () => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop <= END_PIXELS;
  const goToEnd = () => {
    isFollowing = true;
    stopShowing();
    scroller.scrollTop = scroller.scrollHeight;
    showArrow();
  };
  const showArrow = () => toEnd.classList.toggle("m-shown", !isAtEnd() && !isFollowing);

  const firstVisible = () => {
    const top = scroller.getBoundingClientRect().top;
    for (const article of column.children) {
      const box = article.getBoundingClientRect();
      if (article.dataset.key !== "top" && box.bottom > top + 1) return { article, offset: box.top - top };
    }
    return null;
  };

  /* Whether a patch only adds to the newest words, below all that is read. */
  const growsAtEnd = ({ base, ops }) => {
    const newest = column.lastElementChild?.dataset.key;
    return base !== null && ops.every(([name, key, , before]) => key === newest || (name === "insert" && !before));
  };

  /* The line one reads stays where it is, whatever is drawn above it. */
  const keepingPlace = (change, cannotMove) => {
    if (isFollowing) {
      change();
      // Now and not once its height is seen to have changed, which would be one frame more.
      scroller.scrollTop = scroller.scrollHeight;
      return;
    }
    if (cannotMove) return change();
    const place = firstVisible();
    scroller.style.overflowAnchor = "none";
    change();
    const article = place && nodes.get(place.article.dataset.key);
    if (article) {
      const offset = article.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
      if (Math.abs(offset - place.offset) > 0.5) scroller.scrollTop += offset - place.offset;
    }
    // What comes into view above gets its real height now; the browser takes that into account.
    scroller.style.overflowAnchor = "";
    showArrow();
  };

  const begin = () => {
    stopShowing();
    if (nodes.has("welcome") || nodes.has("card")) {
      isFollowing = false;
      scroller.scrollTop = 0;
      return showArrow();
    }
    goToEnd();
  };

  /* Scrolls to a node and marks it. Nodes above it get their height only when they are drawn, so it looks again. */
  let shown = null;
  let looks = 0;
  const stopShowing = () => (looks = 0);
  const show = (key) => {
    const article = nodes.get(key);
    if (!article) return;
    shown?.classList.remove("m-found");
    shown = article;
    article.classList.add("m-found");
    isFollowing = false;
    looks = 30;
    const look = () => {
      if (!looks-- || !article.isConnected) return;
      const offset = article.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 12;
      if (Math.abs(offset) > 1) scroller.scrollTop += offset;
      showArrow();
      requestAnimationFrame(look);
    };
    look();
  };

  let lastTop = 0;
  const onScroll = () => {
    const top = scroller.scrollTop;
    // The view also moves up when its content shrinks; then it is at the end.
    if (top < lastTop - 1 && !isAtEnd()) isFollowing = false;
    else if (isAtEnd() && !looks) isFollowing = true;
    lastTop = top;
    showArrow();
  };
  const leaveEnd = () => {
    stopShowing();
    if (scroller.scrollHeight > scroller.clientHeight + 1) isFollowing = false;
  };
  const UP_KEYS = new Set(["ArrowUp", "PageUp", "Home"]);
  const watchReader = () => {
    scroller.addEventListener("scroll", onScroll, { passive: true });
    scroller.addEventListener("wheel", (event) => (event.deltaY < 0 ? leaveEnd() : stopShowing()), { passive: true });
    let touched = 0;
    scroller.addEventListener("touchstart", (event) => (touched = event.touches[0].clientY), { passive: true });
    scroller.addEventListener(
      "touchmove",
      (event) => (event.touches[0].clientY > touched ? leaveEnd() : stopShowing()),
      { passive: true },
    );
    scroller.addEventListener("keydown", (event) => UP_KEYS.has(event.key) && leaveEnd());
    scroller.addEventListener("pointerdown", stopShowing, { passive: true });
    // Heights change when fonts come or a far node is drawn.
    const heights = new ResizeObserver(() => (isFollowing ? goToEnd() : showArrow()));
    heights.observe(column);
    heights.observe(scroller);
  };

  /* ---- speaking: only whole sentences of an answer, once ---- */

  const SENTENCE = /[.!?。！？]["')\]”’]*(?:\s|$)|[。！？]/g;
  const spoken = new Map();
  const isWords = (article) => article.matches(".m-own") && !article.querySelector(":scope > .m-card");
  const announce = (touched, added) => {
    for (const article of touched) {
      const key = article.dataset.key;
      const isNew = spoken.has(key) || (added.has(article) && isWords(article));
      if (!article.classList.contains("m-growing") && !isNew) continue;
      const isWholeNow = !article.classList.contains("m-growing");
      const said = spoken.get(key) ?? { block: 0, chars: 0 };
      const words = [];
      for (; said.block < article.children.length; said.block++, said.chars = 0) {
        const element = article.children[said.block];
        const isDone = isWholeNow || said.block < article.children.length - 1;
        const text = element.querySelector("figure") ? (isDone ? ` ${WORDS.code} ` : "") : element.textContent;
        const end = isDone ? text.length : [...text.matchAll(SENTENCE)].reduce((_, m) => m.index + m[0].length, 0);
        if (end > said.chars) words.push(text.slice(said.chars, end));
        said.chars = Math.max(said.chars, end);
        if (!isDone) break;
      }
      if (isWholeNow) spoken.delete(key);
      else spoken.set(key, said);
      if (words.length) speak(words.join(" ").trim());
    }
  };
  let silence = 0;
  const speak = (text) => {
    if (!text) return;
    const now = performance.now();
    const line = document.createElement("p");
    line.textContent = text;
    line.saidAt = now;
    // Said once; who reads on finds the words in the conversation. One timer for all, as each would draw the page.
    for (const old of [...speaker.children]) if (now - old.saidAt > SPEECH_MILLISECONDS) old.remove();
    speaker.append(line);
    clearTimeout(silence);
    silence = setTimeout(() => speaker.replaceChildren(), SPEECH_MILLISECONDS);
  };

  /* ---- the composer: a message is taken the moment it is sent, and they arrive one after the other ---- */

  const COMPOSER = "#composer textarea";
  const composer = () => document.querySelector(COMPOSER);
  const setComposer = (text) => {
    const box = composer();
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const outbox = {
    waiting: [],
    number: 0,
    timer: 0,
    take() {
      const box = composer();
      const text = box?.value ?? "";
      // A command takes no files; they stay where they are.
      const isCommand = /^\/[^/\s]*(\s|$)/.test(text.trim());
      if (!isCommand && attachments.mustWait(() => this.take())) return;
      const files = isCommand ? [] : attachments.take();
      if (!text.trim() && !files.length) return;
      setComposer("");
      box.focus();
      this.waiting.push({ number: String(++this.number), text, files, isSent: false });
      goToEnd();
      this.next();
    },
    next() {
      const first = this.waiting[0];
      if (!first || first.isSent) return;
      // The page may be there a moment before what it is connected to.
      if (!window.palimpsest.isConnected("chat-actions")) return setTimeout(() => this.next(), 100);
      first.isSent = true;
      window.palimpsest.send("send", `${[first.number, ...first.files.map((file) => file.id)].join(":")} ${first.text}`);
      // Whatever became of it is shown in the page by then. Files of a message that did not arrive are still there.
      this.timer = setTimeout(() => this.received(first.number, first.files), ACK_MILLISECONDS);
    },
    received(number, filesLeft = []) {
      if (this.waiting[0]?.number !== number) return;
      clearTimeout(this.timer);
      this.waiting.shift();
      attachments.giveBack(filesLeft);
      goToEnd();
      this.next();
    },
    unsent() {
      return this.waiting.filter((message) => !message.isSent).map((message) => message.text);
    },
    unsentFiles() {
      return this.waiting.filter((message) => !message.isSent).flatMap((message) => message.files);
    },
  };

  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.target.matches?.(COMPOSER)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      outbox.take();
    },
    true,
  );
  document.addEventListener(
    "click",
    (event) => {
      if (!event.target.closest?.("#composer .submit-button")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      outbox.take();
    },
    true,
  );

  /* ---- the component ---- */

  const build = (element) => {
    scroller = document.createElement("div");
    Object.assign(scroller, { className: "m-scroller", tabIndex: 0 });
    scroller.setAttribute("role", "log");
    scroller.setAttribute("aria-label", WORDS.conversation);
    // A log speaks by itself, also half a word; `announce` does it sentence by sentence.
    scroller.setAttribute("aria-live", "off");
    column = document.createElement("div");
    column.className = "m-column";
    scroller.append(column);
    toEnd = document.createElement("button");
    Object.assign(toEnd, { type: "button", className: "m-to-end" });
    toEnd.setAttribute("aria-label", WORDS.to_newest);
    toEnd.addEventListener("click", goToEnd);
    speaker = document.createElement("div");
    speaker.className = "m-speaker";
    speaker.setAttribute("aria-live", "polite");
    element.append(scroller, toEnd, speaker);
    scroller.addEventListener("click", (event) => {
      const button = event.target.closest(".m-code-button");
      if (button) onCodeButton(button);
    });
    watchReader();
  };

  window.palimpsest.transcript = {
    connect(element, value, watch) {
      // Beside the template's own node, which is drawn again with each value.
      build(element.parentElement ?? element);
      watch(() => draw(value()));
      draw(value());
    },
    confirmCopy,
    tab: () => tab,
    version: () => version,
    focusComposer: () => composer()?.focus(),
    unsent: () => outbox.unsent(),
    unsentFiles: () => outbox.unsentFiles(),
    composer,
    setComposer,
  };
})();
