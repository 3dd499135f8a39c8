/** The restrictions of our units, each line with its reason. A unit adds its own, and what it opens. */

/** For every unit, even root's. A unit that needs an exception writes it below these lines. */
export const CLOSED_TO_ALL = `# Its rights do not grow: no set-user-id program gives it more.
NoNewPrivileges=yes
# It writes nowhere but where this unit says, and sees no home folder and nobody else's /tmp.
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
# The machine stays as it is: its clock, its name, the kernel with modules, log and settings, the groups of processes.
ProtectClock=yes
ProtectHostname=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
# It cannot keep the processor to itself, leave a program that runs with its rights, or run as on another system.
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
# Sockets on this machine and over IP, no others.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
# The kernel's calls that services need; another one fails and ends nothing. Calls of 32 bits would go past the list.
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM`;

/** For units that run as their own user. */
export const CLOSED_TO_NON_ROOT = `# It has no capability, and changes no priorities and limits.
CapabilityBoundingSet=
AmbientCapabilities=
SystemCallFilter=~@resources
# Mounts, shared memory and keys of the kernel are its own, and end with it.
PrivateMounts=yes
RemoveIPC=yes
KeyringMode=private`;

/** For units that also start no program and need no device. */
export const CLOSED_TO_LONE_PROGRAMS = `# No namespaces, no devices, no other users, no other processes to see.
RestrictNamespaces=yes
PrivateDevices=yes
PrivateUsers=yes
ProtectProc=invisible
ProcSubset=pid
SystemCallFilter=~@privileged`;

/** Exceptions for programs that run on Node. */
export const OPEN_TO_NODE = `# Node asks the kernel for the network's interfaces.
RestrictAddressFamilies=AF_NETLINK`;
