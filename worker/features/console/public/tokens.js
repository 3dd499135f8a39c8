/** Makes tokens in the browser, for who has no terminal: `npm run tokens` (local/tokens.ts) makes the same. */

/** 256 bits, as text: nothing to guess. */
const TOKEN_BYTES = 32;

function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function make() {
  const [api, client, bridge] = [newToken(), newToken(), newToken()];
  const home = "home";
  const owner = { name: "owner", home, role: "owner", scopes: ["ask", "command", "approve", "admin"] };
  const asks = { name: "client", home, role: "member", scopes: ["ask"] };
  const values = {
    api,
    client,
    bridge,
    API_TOKENS: JSON.stringify([
      { hash: await sha256(api), ...owner },
      { hash: await sha256(client), ...asks },
    ]),
    BRIDGE_TOKENS: JSON.stringify([{ hash: await sha256(bridge), name: "bridge", home }]),
  };
  for (const [id, value] of Object.entries(values)) document.getElementById(id).value = value;
  document.getElementById("made").hidden = false;
}

document.getElementById("tokens").addEventListener("submit", (event) => {
  event.preventDefault();
  void make();
});
for (const field of document.querySelectorAll("[readonly]"))
  field.addEventListener("focus", () => field.select());
