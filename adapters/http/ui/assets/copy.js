for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.onclick = async () => {
    const from = document.getElementById(button.dataset.copy);
    await navigator.clipboard.writeText(from.value ?? from.innerText);
    button.nextElementSibling.textContent = button.dataset.copied;
  };
}
