/** A systemd unit's name, with or without suffix. It cannot begin like an option. */
export const UNIT_NAME = /^[A-Za-z0-9_:@\\][A-Za-z0-9_:.@\\-]{0,254}$/;
