/**
 * The script of the consent's page, for people who have a passkey: Allow asks for it, over exactly the fields that are sent. It is text,
 * since the page stands alone: the console's files may be missing where programs sign in.
 */
export const CONFIRM_SCRIPT = `
const form = document.querySelector("form");
const problem = form.querySelector("[role=alert]");
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const text = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
async function confirm(body) {
  const response = await fetch("/v1/passkeys/challenges", {
    method: "POST",
    headers: { "x-edgecall-console": "1", "content-type": "application/json" },
    body: JSON.stringify({ method: "POST", path: "/oauth/authorize", body }),
  });
  const challenge = await response.json();
  if (!response.ok) throw new Error(challenge.error.message);
  const credential = await navigator.credentials.get({
    publicKey: {
      challenge: bytes(challenge.challenge),
      rpId: challenge.rp_id,
      allowCredentials: challenge.allow.map((id) => ({ type: "public-key", id: bytes(id) })),
      userVerification: "required",
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  const assertion = {
    id: credential.id,
    clientDataJSON: text(clientDataJSON),
    authenticatorData: text(authenticatorData),
    signature: text(signature),
    userHandle: userHandle ? text(userHandle) : null,
  };
  return text(new TextEncoder().encode(JSON.stringify({ nonce: challenge.nonce, assertion })));
}
form.addEventListener("submit", (event) => {
  if (event.submitter?.value !== "allow" || form.proof) return;
  event.preventDefault();
  const { submitter } = event;
  problem.hidden = true;
  confirm(new URLSearchParams(new FormData(form, submitter)).toString()).then(
    (proof) => {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: "proof", value: proof });
      form.append(field);
      form.requestSubmit(submitter);
    },
    (error) => {
      problem.textContent = "Not confirmed with your passkey: " + error.message;
      problem.hidden = false;
    },
  );
});
`;
