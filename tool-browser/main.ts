/** What the agent uses of this package. */
export { browser, browserMissing } from "./browser.ts";
export { Pages } from "./pages.ts";
