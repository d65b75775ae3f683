/* What the page needs of the browser before Gradio's own scripts run, which keep what they find here. */
(() => {
  /* Gradio counts the seconds of whatever loads, at every frame, and goes on for ever once its sign is gone. This page
     shows no seconds, so those frames are not drawn. */
  const COUNTS_SECONDS = /^\(\)\s*=>\s*\{[^{}]*\(performance\.now\(\)\s*-[^{}]*\/\s*(?:1e3|1000)/;
  const nextFrame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => (COUNTS_SECONDS.test(String(draw)) ? 0 : nextFrame(draw));

  /* Gradio opens a stream of answers when an event is taken while none is open, and closes it when the server says that
     nothing is left. Where the server said so just before it took the next event, and the word of it comes second, that
     event would wait for ever. So while a stream is open, word that an event was taken waits a moment for its end. */
  const CLOSING_MILLISECONDS = 150;
  const ask = window.fetch.bind(window);
  let closed = null;
  const readStream = async (request) => {
    const { signal } = request;
    const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
    const ended = stopped.then(() => closed === ended && (closed = null));
    closed = ended;
    const within = new AbortController();
    const asked = ask(new Request(request, { signal: within.signal }));
    const answer = await Promise.race([asked, stopped]);
    if (!signal.aborted) return new Response(untilAborted(answer.body.getReader(), signal), answer);
    asked.catch(() => {});
    within.abort();
    return new Response("");
  };
  /* A stream that Gradio closes ends; were it to break, Gradio would take the server for gone. */
  const untilAborted = (reader, signal) => {
    let isOpen = true;
    const end = (out) => {
      if (isOpen) out.close();
      isOpen = false;
    };
    return new ReadableStream({
      start(out) {
        signal.addEventListener("abort", () => {
          reader.cancel();
          end(out);
        });
      },
      async pull(out) {
        const { done, value } = await reader.read();
        if (done) end(out);
        else if (isOpen) out.enqueue(value);
      },
      cancel(reason) {
        isOpen = false;
        return reader.cancel(reason);
      },
    });
  };
  window.fetch = async (what, how) => {
    const address = String(what.url ?? what);
    if (/\/queue\/data\?/.test(address)) return readStream(new Request(what, how));
    const answer = await ask(what, how);
    if (closed && /\/queue\/join/.test(address))
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSING_MILLISECONDS))]);
    return answer;
  };
})();
