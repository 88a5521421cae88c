// All pages work without this file. With it, a file can be dropped anywhere, and a page that waits looks by itself.
"use strict";

const drop = document.querySelector("[data-drop]");
if (drop) {
  const input = drop.querySelector("input[type=file]");
  drop.querySelector("[data-drop-hint]").hidden = false;
  const over = (event) => {
    if (!event.dataTransfer || ![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    drop.classList.add("over");
  };
  document.addEventListener("dragenter", over);
  document.addEventListener("dragover", over);
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
  document.addEventListener("drop", (event) => {
    drop.classList.remove("over");
    if (!event.dataTransfer || !event.dataTransfer.files.length) return;
    event.preventDefault();
    input.files = event.dataTransfer.files;
    input.focus();
  });
  // A second click while the file travels would send it twice.
  drop.addEventListener("submit", () => { setTimeout(() => { drop.querySelector("button").disabled = true; }); });
  window.addEventListener("pageshow", () => { drop.querySelector("button").disabled = false; });
}

const waits = document.body.dataset.waits;
if (waits) {
  const place = document.getElementById("place");
  let pause = 700;
  const look = async () => {
    try {
      const answer = await fetch(waits, { headers: { Accept: "application/json" }, cache: "no-store" });
      if (answer.ok) {
        const told = await answer.json();
        if (!told.waits) { window.location.reload(); return; }
        if (place.textContent !== told.sentence) place.textContent = told.sentence;
      }
    } catch { /* The server may be starting anew: the file is kept, and the next look finds it. */ }
    pause = Math.min(pause * 1.2, 5000);
    setTimeout(look, pause);
  };
  setTimeout(look, pause);
}
