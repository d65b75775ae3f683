/* Gradio counts the seconds of whatever loads, at every frame, and goes on for ever once its sign is gone. This page shows
   no seconds, so those frames are not drawn. It runs before Gradio's own scripts, which keep what they find here. */
(() => {
  const COUNTS_SECONDS = /^\(\)\s*=>\s*\{[^{}]*\(performance\.now\(\)\s*-[^{}]*\/\s*(?:1e3|1000)/;
  const nextFrame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => (COUNTS_SECONDS.test(String(draw)) ? 0 : nextFrame(draw));
})();
