/* Files for the next message: chosen, dropped on the page or pasted. Each is sent to the server at once and is a chip
   above the composer until its message is sent. */
(() => {
  const WORDS = __WORDS__;
  const LOST = "palimpsest-attached";
  // A paste of more characters than this becomes a file; the page offers to put it into the message after all.
  const PASTE_CHARS = 8000;
  const { panels } = window.palimpsest;
  const page = () => window.palimpsest.transcript;

  let files = [];
  let whenReady = null;
  let pasted = 0;

  const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const sizeOf = (bytes) => {
    if (bytes < 1000) return `${bytes} B`;
    return bytes < 999500 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
  };
  const tokensOf = (count) => {
    if (count < 1000) return String(count);
    return `${(count / 1000).toFixed(count < 1e5 && count % 1000 ? 1 : 0)}k`;
  };

  /* ---- what is shown ---- */

  const row = () => document.querySelector("#attached .p-attached-row");
  const say = (words) => {
    const line = row()?.querySelector(".p-attached-says");
    if (line) line.textContent = words;
  };
  const element = (tag, className, text = "") => Object.assign(document.createElement(tag), { className, textContent: text });

  const about = (file) => {
    if (file.state === "failed") return file.error;
    if (file.state === "ready") {
      const told = fill(WORDS.attached_about, { size: sizeOf(file.size), tokens: tokensOf(file.tokens) });
      return file.note ? `${told} · ${file.note}` : told;
    }
    const share = file.share < 1 ? `${Math.floor(file.share * 100)} %` : WORDS.attached_reads;
    return `${sizeOf(file.size)} · ${share}`;
  };

  const makeChip = (file) => {
    const chip = element("li", "p-attachment");
    const name = element("span", "p-attachment-name", file.name);
    name.title = file.name;
    const words = element("button", "p-attachment-words", WORDS.attached_as_words);
    words.type = "button";
    words.addEventListener("click", () => putIntoMessage(file));
    const remove = element("button", "p-attachment-remove");
    remove.type = "button";
    remove.setAttribute("aria-label", fill(WORDS.attached_remove, { name: file.name }));
    remove.addEventListener("click", () => removeOne(file));
    if (file.look) chip.append(Object.assign(element("img", "p-attachment-look"), { src: file.look, alt: "" }));
    chip.append(name, element("span", "p-attachment-about"), words, remove);
    return chip;
  };

  const draw = () => {
    const list = row()?.querySelector("ul");
    if (!list) return;
    for (const file of files) {
      file.chip ??= makeChip(file);
      file.chip.classList.toggle("p-attachment-failed", file.state === "failed");
      file.chip.classList.toggle("p-attachment-coming", file.state === "coming");
      file.chip.querySelector(".p-attachment-about").textContent = about(file);
      file.chip.querySelector(".p-attachment-words").hidden = !(file.state === "ready" && file.words !== undefined && file.mayBeWords);
    }
    list.replaceChildren(...files.map((file) => file.chip));
    row().classList.toggle("p-has-files", files.length > 0);
  };

  /* ---- one file ---- */

  const maxBytes = () => Number(document.querySelector("#attach [data-max-bytes]")?.dataset.maxBytes ?? 0);
  const fail = (file, error) => {
    Object.assign(file, { state: "failed", error, request: null });
    whenReady = null;
    file.chip.querySelector(".p-attachment-look")?.remove();
    say(error);
    draw();
  };

  const upload = (file, blob) => {
    if (blob.size > maxBytes()) return fail(file, fill(WORDS.attached_too_large, { limit: sizeOf(maxBytes()) }));
    const request = new XMLHttpRequest();
    file.request = request;
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      file.share = total ? loaded / total : 0;
      draw();
    });
    request.addEventListener("load", () => {
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // The guard's answers are no JSON.
      }
      if (!answer.id) return fail(file, answer.error ?? WORDS.attached_refused);
      const { id, name, size, tokens, note, may_be_words: mayBeWords } = answer;
      Object.assign(file, { state: "ready", request: null, id, name, size, tokens, note, mayBeWords });
      say(fill(WORDS.attached_ready, { name }));
      draw();
      sendIfReady();
    });
    request.addEventListener("error", () => fail(file, WORDS.attached_no_answer));
    const query = new URLSearchParams({ session_hash: page().tab(), name: file.name.slice(-200) });
    request.open("POST", `attach?${query}`);
    request.send(blob);
  };

  const add = (blob, name, words) => {
    const look = /^image\/(png|jpeg|gif|webp)$/.test(blob.type) ? URL.createObjectURL(blob) : "";
    const file = { name, size: blob.size, share: 0, state: "coming", words, look };
    files.push(file);
    draw();
    upload(file, blob);
  };

  const detach = (file) => {
    file.request?.abort();
    URL.revokeObjectURL(file.look);
    if (!file.id) return;
    const body = JSON.stringify({ session_hash: page().tab(), id: file.id });
    fetch("detach", { method: "POST", headers: { "content-type": "application/json" }, body }).catch(() => {});
  };

  const removeOne = (file) => {
    const at = files.indexOf(file);
    if (at < 0) return;
    files.splice(at, 1);
    detach(file);
    draw();
    say(fill(WORDS.attached_removed, { name: file.name }));
    (files[Math.min(at, files.length - 1)]?.chip.querySelector(".p-attachment-remove") ?? page().composer())?.focus();
    sendIfReady();
  };

  /* What was pasted and became a file, in the message after all. */
  const putIntoMessage = (file) => {
    removeOne(file);
    const box = page().composer();
    const before = box.value;
    page().setComposer(before && !before.endsWith("\n") ? `${before}\n${file.words}` : before + file.words);
    box.focus();
  };

  /* ---- the message ---- */

  const sendIfReady = () => {
    if (!whenReady || files.some((file) => file.state === "coming")) return;
    const send = whenReady;
    whenReady = null;
    send();
  };

  window.palimpsest.attachments = {
    /* Whether a message has to wait for files that are on their way; it is sent when they are there. */
    mustWait(send) {
      if (!files.some((file) => file.state === "coming")) return false;
      whenReady = send;
      say(WORDS.attached_waits);
      return true;
    },
    /* The files of the message that is sent; those that failed stay and say why. */
    take() {
      const taken = files.filter((file) => file.state === "ready");
      files = files.filter((file) => file.state !== "ready");
      draw();
      return taken;
    },
    /* The pictures of a message that was drawn come from the server, for this tab of their person. */
    showPictures(block) {
      for (const link of block.querySelectorAll("a[data-picture]:not([href])")) {
        const query = new URLSearchParams({ session_hash: page().tab() });
        link.href = `pictures/${link.dataset.picture}?${query}`;
        link.firstElementChild.src = link.href;
      }
    },
    giveBack(left) {
      if (!left.length) return;
      files = [...left, ...files];
      say(WORDS.attached_not_sent);
      draw();
    },
  };

  /* ---- ways in ---- */

  const addAll = (list) => {
    for (const blob of list) add(blob, blob.name);
    page().composer()?.focus();
  };

  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#attach .p-clip")) document.querySelector("#attach input[type=file]")?.click();
  });
  document.addEventListener("change", (event) => {
    if (!event.target.matches?.("#attach input[type=file]")) return;
    addAll([...event.target.files]);
    event.target.value = "";
  });

  document.addEventListener(
    "paste",
    (event) => {
      if (event.target !== page().composer()) return;
      const text = event.clipboardData.getData("text/plain");
      const given = [...event.clipboardData.files];
      // A table or a paragraph comes with a picture of itself; its words are meant.
      if (given.length && !text.trim()) {
        event.preventDefault();
        addAll(given);
      } else if (text.length > PASTE_CHARS) {
        event.preventDefault();
        pasted += 1;
        add(new Blob([text], { type: "text/plain" }), fill(WORDS.attached_paste_name, { number: pasted }), text);
        say(WORDS.attached_pasted);
      }
    },
    true,
  );

  /* Files that are dropped anywhere on the page. */
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  let entered = 0;
  const showDrop = (isShown) => {
    document.body.dataset.drop = WORDS.attached_drop;
    document.documentElement.classList.toggle("p-dropping", isShown);
  };
  document.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    entered += 1;
    showDrop(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!hasFiles(event)) return;
    entered = Math.max(0, entered - 1);
    if (!entered) showDrop(false);
  });
  document.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    // The browser would show the file in place of the page.
    event.preventDefault();
    entered = 0;
    showDrop(false);
    if (window.palimpsest.conversations.takeDropped(event)) return;
    panels.closeDrawer();
    addAll([...event.dataTransfer.files]);
  });

  /* ---- a page that is left: its files are gone with it, and the next one says so ---- */

  const told = () => [...page().unsentFiles(), ...files].filter((file) => file.state !== "failed").map((file) => file.name);
  const showLost = (names) => {
    for (const name of names) files.push({ name, state: "failed", error: WORDS.attached_lost });
    if (names.length) say(WORDS.attached_lost);
    draw();
  };
  addEventListener("pagehide", () => {
    const names = told();
    if (names.length) sessionStorage.setItem(LOST, JSON.stringify(names));
  });
  // A page that comes back as it was has been forgotten meanwhile.
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    const names = told();
    sessionStorage.removeItem(LOST);
    files = files.filter((file) => file.state === "failed");
    showLost(names);
  });
  const restore = () => {
    if (!row()) return setTimeout(restore, 50);
    const kept = sessionStorage.getItem(LOST);
    sessionStorage.removeItem(LOST);
    if (kept) showLost(JSON.parse(kept));
  };
  restore();
})();
