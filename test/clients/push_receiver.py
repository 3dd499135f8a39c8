"""Opens messages of Web Push with http_ece, and checks the sender's word with PyJWT, both from PyPI.

usage: push_receiver.py < {"private_key", "auth", "bodies": [base64url], "authorization", "audience"}
"""

import base64
import json
import re
import sys

import http_ece
import jwt
from cryptography.hazmat.primitives.asymmetric import ec


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


asked = json.load(sys.stdin)
private_key = ec.derive_private_key(int.from_bytes(decoded(asked["private_key"]), "big"), ec.SECP256R1())
texts = [
    http_ece.decrypt(decoded(body), private_key=private_key, auth_secret=decoded(asked["auth"]), version="aes128gcm").decode()
    for body in asked["bodies"]
]
token, key = re.fullmatch(r"vapid t=([\w.-]+), k=([\w-]+)", asked["authorization"]).groups()
public_key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(key))
claims = jwt.decode(
    token,
    public_key,
    algorithms=["ES256"],
    audience=asked["audience"],
    options={"require": ["aud", "exp", "sub"]},
)
print(json.dumps({"texts": texts, "subject": claims["sub"]}))
