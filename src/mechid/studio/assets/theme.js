// The colour scheme that was chosen, before the first picture; without a choice, that of the system.
"use strict";
{
  const chosen = localStorage.getItem("mechid-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
}
