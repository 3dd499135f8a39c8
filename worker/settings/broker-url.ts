/** Without a user, who has fields of their own. */
export const BROKER_URL = /^mqtts?:\/\/[^\s@]+$/;
