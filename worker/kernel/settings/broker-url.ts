/** A broker's address without a user: user and password have fields of their own. */
export const BROKER_URL = /^mqtts?:\/\/[^\s@]+$/;
