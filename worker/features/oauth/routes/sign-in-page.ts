import { escaped, hidden, page } from "./page.ts";

/** @param query of the request that is shown again afterwards */
export function signInPage({
  query,
  problem,
  access,
}: {
  query: string;
  problem: string | undefined;
  access: boolean;
}): Response {
  const again = `/oauth/authorize?${query}`;
  const byAccess = access
    ? `<form method="post" action="/oauth/authorize">${hidden("query", query)}<p><button>Sign in over Cloudflare Access</button></p></form>`
    : "";
  return page(
    "Sign in to your gateway",
    `<p>A program wants to use your home. Sign in first; then you see what it asks for, and allow or deny it.</p>
${problem === undefined ? "" : `<p class="warning" role="alert">${escaped(problem)}</p>`}
${byAccess}<form method="post" action="/oauth/authorize">${hidden("query", query)}
<label>Your token <input type="password" name="token" required autocomplete="current-password"></label>
<p><button>Sign in</button></p></form>
<p class="quiet">Give the token to nobody else: the program that sent you here neither needs nor sees it.
<a href="${escaped(again)}">I am signed in to the console already</a></p>`,
    problem === undefined ? {} : { status: 401 },
  );
}
