/** The pages of the sign-in: HTML, with a script only where a passkey is asked for, which no other site can frame. */

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 34rem; margin: 8vh auto; padding: 0 1rem; }
  h1 { font-size: 1.4rem; }
  .host { font-size: 1.5rem; font-weight: 600; overflow-wrap: anywhere; }
  .warning { border-left: 4px solid #c60; padding-left: 0.75rem; }
  label { display: block; margin: 0.75rem 0; }
  input[type="password"] { width: 100%; padding: 0.5rem; font: inherit; box-sizing: border-box; }
  button { font: inherit; padding: 0.5rem 1.25rem; margin-right: 0.5rem; }
  [hidden] { display: none; }
  .quiet { opacity: 0.75; font-size: 0.9rem; }
`;

type PageOptions = {
  status?: number;
  /** What the forms may lead to, beside this gateway. */
  formAction?: string;
  /** The browser requests this address at once. */
  next?: string;
  /** The page's only script. It may request from this gateway alone. */
  script?: string;
  headers?: Record<string, string>;
};

/** @param body HTML; texts of others went through `escaped` */
export function page(title: string, body: string, options: PageOptions = {}): Response {
  const { status = 200, formAction = "", next, script, headers } = options;
  const nonce = crypto.randomUUID();
  const refresh = next === undefined ? "" : `<meta http-equiv="refresh" content="0; url=${escaped(next)}">`;
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8">${refresh}<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><style nonce="${nonce}">${STYLE}</style></head><body><main><h1>${escaped(title)}</h1>
${body}</main>${script === undefined ? "" : `<script nonce="${nonce}">${script}</script>`}</body></html>`;
  const scripts = script === undefined ? "" : ` script-src 'nonce-${nonce}'; connect-src 'self';`;
  return new Response(html, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none';${scripts} style-src 'nonce-${nonce}'; form-action 'self' ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
      "x-frame-options": "DENY",
      // With no-referrer a browser sends `Origin: null` with a form. Other sites get nothing either way.
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

export function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escaped(value)}">`;
}

/** Nothing was given, and no program is told. */
export function problemPage(message: string): Response {
  return page(
    "This cannot be connected",
    `<p>${escaped(message)}</p><p class="quiet">Nothing was allowed. Start again in the program that sent you here.</p>`,
    { status: 400 },
  );
}
