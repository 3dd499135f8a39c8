import { CONFIRM_SCRIPT } from "./confirm-script.ts";
import { escaped, hidden, page } from "./page.ts";
import { formActionOf, placeOf } from "./redirects.ts";

type Consent = {
  /** The name by which the program calls itself. */
  client: string;
  /** Of the document by which the program is known. Nothing else about it is verified. */
  documentHost: string | undefined;
  redirect: string;
  home: string;
  person: string;
  mayCommand: boolean;
  /** The program asked for `command`. */
  wantsCommand: boolean;
  isOwner: boolean;
  /** Then Allow asks for it. */
  hasPasskey: boolean;
  /** Sealed. */
  form: string;
};

/** Shows who asks, where the answer goes and what it allows. Only its button gives anything. */
export function consentPage(consent: Consent): Response {
  const { client, documentHost, redirect, home, person, mayCommand, wantsCommand, isOwner, form } = consent;
  const command = mayCommand
    ? `<label><input type="checkbox" name="command" value="yes"> It may also run actions by name${
        wantsCommand ? " <strong>(it asks for this)</strong>" : ""
      }. What your devices want approved still waits for you.</label>`
    : "";
  const trusted = isOwner
    ? `<label><input type="checkbox" name="trusted" value="yes"> It reads nothing but my devices. Then its calls run
as your devices' policy alone says; otherwise each call that changes something waits for you, since a web page or a mail that the
program reads could have asked for it.</label>`
    : "";
  return page(
    "Connect a program to your home?",
    `<p>A program that calls itself <strong>${escaped(client)}</strong> wants to use the home <strong>${escaped(home)}</strong>, as ${escaped(person)}.</p>
${documentHost === undefined ? "" : `<p>Its name is its own claim. It is known by a document of the site</p><p class="host">${escaped(documentHost)}</p>`}
<p>If you allow it, the answer goes to</p>
${whereTo(redirect)}
<p>It may ask about your devices and what they say, and ask them to do things. It can approve nothing, and manage nothing.</p>
<form method="post" action="/oauth/authorize">${hidden("form", form)}
${command}${trusted}
<p><button name="answer" value="allow">Allow</button><button name="answer" value="deny">Deny</button></p>
<p class="warning" role="alert" hidden></p></form>
<p class="quiet">It lasts until you disconnect the program in the console, or it was not used for 90 days.</p>`,
    { formAction: formActionOf(redirect), ...(consent.hasPasskey && { script: CONFIRM_SCRIPT }) },
  );
}

function whereTo(redirect: string): string {
  const { place, host, known } = placeOf(redirect);
  if (place === "loopback")
    return `<p class="host">a program on the computer that you are using now</p>
<p>Allow it only if you have just started this yourself, on this computer.</p>`;
  const shown = `<p class="host">${escaped(host)}${known === undefined ? "" : ` (${escaped(known)})`}</p>`;
  if (place === "app") return `${shown}<p>That is an app on the computer that you are using now.</p>`;
  if (known !== undefined) return shown;
  return `${shown}<p class="warning">This gateway does not know that site. Allow it only if you know it, and came from there.</p>`;
}
