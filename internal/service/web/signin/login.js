// The form of a sign-in link sends itself, but not while the browser loads the page in advance.
const form = document.getElementById("link");
if (form) {
  if (document.prerendering) document.addEventListener("prerenderingchange", () => form.submit(), { once: true });
  else form.submit();
} else document.getElementById("token-field").focus();
