/* What a tab says to a person who looks elsewhere: a mark in its title while an approval waits, and, where they allowed
   it, a notification of the system when one waits or an answer is done. */
(() => {
  const WORDS = __WORDS__;
  const LOOK_MILLISECONDS = 250;
  const MARK = "● ";
  const isWanted = () => window.palimpsest.kept("notify") === "on";

  const notify = (text) => {
    if (!document.hidden || !isWanted() || !window.Notification || Notification.permission !== "granted") return;
    const shown = new Notification(WORDS.notify_title, { body: text, tag: "palimpsest" });
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
  };

  let before = { waits: "", runs: false };
  const look = () => {
    const now = {
      // The class of its button names the call: another one that waits in its place is told of as well.
      waits: document.querySelector("#chat .p-approval .p-key-y")?.className ?? "",
      runs: document.querySelector("#stop button") !== null,
    };
    const plain = document.title.startsWith(MARK) ? document.title.slice(MARK.length) : document.title;
    const title = now.waits ? MARK + plain : plain;
    if (document.title !== title) document.title = title;
    if (now.waits && now.waits !== before.waits) notify(WORDS.notify_waits);
    else if (before.runs && !now.runs && !now.waits) notify(WORDS.notify_done);
    before = now;
  };

  // A hidden page draws no frame, but its timers go on.
  let timer = 0;
  const lookSoon = () => {
    timer ||= setTimeout(() => {
      timer = 0;
      look();
    }, LOOK_MILLISECONDS);
  };
  new MutationObserver(lookSoon).observe(document.documentElement, { subtree: true, childList: true });

  /* A browser asks only because of a click of the person's. */
  document.addEventListener("change", async (event) => {
    const select = event.target.closest?.(".p-of-browser[data-kept=notify]");
    if (!select || select.value !== "on") return;
    const answer = window.Notification ? await Notification.requestPermission() : "denied";
    if (answer === "granted") return;
    select.value = "off";
    select.dispatchEvent(new Event("change", { bubbles: true }));
    select.closest(".p-setting").querySelector(".p-hint").textContent = WORDS.notify_refused;
  });
})();
