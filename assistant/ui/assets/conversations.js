/* Conversations as files: one is taken away from its menu, and one that is dropped on the list or picked comes in. */
(() => {
  const WORDS = __WORDS__;
  const LIST = "#left";
  const page = () => window.palimpsest.transcript;
  const tell = (words) => {
    const line = document.querySelector("#list-says .p-list-says");
    if (line) line.textContent = words;
  };

  const saveAs = (blob, name) => {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  const exportOne = async (id, form) => {
    tell("");
    const query = new URLSearchParams({ session_hash: page().tab(), c: id });
    try {
      const answer = await fetch(`export/${form}?${query}`);
      const name = /filename\*=UTF-8''(\S+)/.exec(answer.headers.get("content-disposition") ?? "")?.[1];
      if (!name) return tell((await answer.json()).error ?? WORDS.attached_refused);
      saveAs(await answer.blob(), decodeURIComponent(name));
    } catch {
      tell(WORDS.attached_no_answer);
    }
  };

  const importOne = async (file) => {
    const query = new URLSearchParams({ session_hash: page().tab() });
    try {
      const answer = await fetch(`import?${query}`, { method: "POST", body: file });
      const { opened, told, error } = await answer.json();
      tell(`${file.name}: ${error ?? told}`);
      if (opened) window.palimpsest.send("open-session", opened);
    } catch {
      tell(`${file.name}: ${WORDS.attached_no_answer}`);
    }
  };

  const importAll = async (files) => {
    for (const file of files) await importOne(file);
  };

  const pick = () => {
    const input = Object.assign(document.createElement("input"), { type: "file", accept: ".jsonl,.json,.md,.zip" });
    input.addEventListener("change", () => importAll([...input.files]));
    input.click();
  };

  window.palimpsest.conversations = {
    exportOne,
    pick,
    /* Takes files that were dropped on the list; false where they were dropped elsewhere. */
    takeDropped(event) {
      if (!event.target.closest?.(LIST)) return false;
      importAll([...event.dataTransfer.files]);
      return true;
    },
  };
})();
