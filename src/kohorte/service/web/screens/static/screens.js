"use strict";
// Small helpers; every page works without them.

// What cannot be asked is told: the page keeps what it showed and what was typed. An answer takes the sentence away.
function connected(is) {
  const lost = document.querySelector("[data-lost]");
  if (lost) lost.hidden = is;
}

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
      connected(true);
      watched.querySelector("progress").value = job.progress;
      watched.querySelector("[data-message]").textContent = job.message;
      if (job.ended) return window.location.reload();
    } catch (error) {
      connected(false); // ask again later
    }
    window.setTimeout(ask, 1000);
  };
  window.setTimeout(ask, 1000);
}

// Figures that take a moment: the page is there at once, and they follow.
for (const place of document.querySelectorAll("[data-figures]")) {
  const form = place.dataset.form && document.getElementById(place.dataset.form);
  const body = form ? new URLSearchParams(new FormData(form)) : null;
  fetch(place.dataset.figures, body ? { method: "POST", body } : {})
    .then(async (answer) => {
      if (answer.redirected || answer.status === 401) return window.location.reload();
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      place.replaceChildren(...(found.querySelector("main") ?? found.body).childNodes);
      place.removeAttribute("aria-busy");
    })
    .catch(() => {
      place.removeAttribute("aria-busy");
      connected(false);
    });
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
  const form = document.getElementById(panel.dataset.form || "plan");
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
      connected(true);
      panel.removeAttribute("aria-busy");
    } catch (error) {
      if (error.name === "AbortError") return;
      panel.removeAttribute("aria-busy");
      connected(false);
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

// A slider beside a number: both show the same, and the number is what is sent.
for (const slider of document.querySelectorAll("[data-slider]")) {
  const number = document.getElementById(slider.dataset.slider);
  slider.hidden = false;
  slider.addEventListener("input", () => {
    number.value = slider.value;
    number.dispatchEvent(new Event("input", { bubbles: true }));
  });
  number.addEventListener("input", () => {
    slider.value = number.value;
  });
}
