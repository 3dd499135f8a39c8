/**
 * Up to 0.3 a home's methods had one flat name each. An object lives on for some minutes after a deploy, so for one release objects
 * of 0.3 are called by these names, and call this gateway's objects by them. 0.5 needs this no more.
 * @see https://developers.cloudflare.com/workers/versions-and-deployments/gradual-deployments/
 */
const FLAT_NAMES: Readonly<Record<string, string>> = {
  "audit.find": "audit",
  "audit.page": "auditPage",
  "devices.change": "changeDevice",
  "devices.forget": "forgetDevice",
  "devices.list": "devices",
  "lending.view": "lending",
  "oauth.client": "oauthClient",
  "oauth.clients": "oauthClients",
  "oauth.makeClient": "makeOauthClient",
  "oauth.removeClient": "removeOauthClient",
  "pairing.code": "deviceCode",
  "pairing.makeCode": "makeDeviceCode",
  "pairing.pair": "pairDevice",
  "push.add": "addOutlet",
  "push.remove": "removeOutlet",
  "push.view": "push",
  "relay.admit": "admitToRelay",
  "relay.count": "countRelayed",
  "relay.isToken": "isRelayToken",
  "rules.change": "changeRule",
  "rules.list": "rules",
  "rules.remove": "removeRule",
};

/** @param name `topic.method` @returns the name in 0.3 */
export function flatName(name: string): string {
  return FLAT_NAMES[name] ?? name.slice(name.indexOf(".") + 1);
}
