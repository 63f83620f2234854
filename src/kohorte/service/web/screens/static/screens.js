"use strict";
// Small helpers; every page works without them.

// A form is sent once: a second click while the first is on its way would repeat it.
document.addEventListener("submit", (event) => {
  const form = event.target;
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
