"use strict";
// Small helpers; every page works without them.

// A form is sent once: a second click while the first is on its way would repeat it.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.classList.contains("repeatable")) return;
  if (form.dataset.sent === "yes") {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
});

// A page that comes back from the browser's memory may show what is no longer so: load it again.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) window.location.reload();
});

// A job that runs: ask how far it is, and load the page again when it has ended.
for (const watched of document.querySelectorAll("[data-watch]")) {
  const ask = async () => {
    try {
      const answer = await fetch(watched.dataset.watch, { headers: { Accept: "application/json" } });
      if (!answer.ok || answer.redirected) return window.location.reload();
      const job = await answer.json();
      watched.querySelector("progress").value = job.progress;
      watched.querySelector("[data-message]").textContent = job.message;
      if (job.ended) return window.location.reload();
    } catch (error) {
      // The connection is lost: ask again later; the page keeps what it showed.
    }
    window.setTimeout(ask, 1000);
  };
  window.setTimeout(ask, 1000);
}

// A file can be dropped on the form.
for (const place of document.querySelectorAll(".drop")) {
  const input = place.querySelector("input[type=file]");
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) input.files = event.dataTransfer.files;
  });
}

// The preview of a plan: asked for when the form changes; a newer question replaces an older one.
const panel = document.querySelector("[data-panel]");
if (panel) {
  const form = document.getElementById("plan");
  let waiting = null;
  let asked = null;
  const show = async () => {
    if (asked) asked.abort();
    asked = new AbortController();
    panel.setAttribute("aria-busy", "true");
    try {
      const body = new URLSearchParams(new FormData(form));
      body.delete("use");
      const answer = await fetch(panel.dataset.panel, { method: "POST", body, signal: asked.signal });
      if (answer.redirected || answer.status === 401) return form.requestSubmit();
      panel.innerHTML = await answer.text();
      panel.removeAttribute("aria-busy");
    } catch (error) {
      if (error.name !== "AbortError") panel.removeAttribute("aria-busy");
    }
  };
  form.addEventListener("input", (event) => {
    if (["text", "name", "researcher", "description", "comment"].includes(event.target.name)) return;
    window.clearTimeout(waiting);
    waiting = window.setTimeout(show, 400);
  });
  // The role of a column decides which fields it has: they come with the page.
  form.addEventListener("change", (event) => {
    if (/^role-/.test(event.target.name)) form.requestSubmit();
  });
  if (!panel.querySelector("dl, .refused")) show();
}
