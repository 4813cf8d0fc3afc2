// The list "sections" is above: path, page, heading and text of each section.
const field = document.getElementById("searchWords"), list = document.getElementById("searchResults");
const root = document.currentScript.dataset.root;

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : sections.filter(s => words.every(w => s.text.includes(w)));
  const inHeading = s => words.filter(w => s.title.toLowerCase().includes(w)).length;
  found.sort((a, b) => inHeading(b) - inHeading(a));
  list.replaceChildren(...found.slice(0, 15).map(s => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = root + s.path;
    link.textContent = s.title;
    item.append(link);
    return item;
  }));
}

field.addEventListener("input", search);
field.form.addEventListener("submit", event => event.preventDefault());
