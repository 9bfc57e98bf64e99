package approval

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// Register reads the answer of a browser to the wish for a new passkey: the JSON of a PublicKeyCredential (WebAuthn Level
// 3, 5.1). Its person must have been verified, as for each approval. No attestation is asked for: that the
// key never leaves its authenticator is the authenticator's word.
func Register(answer, challenge []byte, rpID string, origins []string) (p *Passkey, isBackedUp bool, err error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, false, errors.New("the browser's answer cannot be read")
	}
	var wanted []protocol.CredentialParameter
	for _, a := range Algorithms() {
		wanted = append(wanted, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.COSEAlgorithmIdentifier(a.COSE())})
	}
	client := &parsed.Response.CollectedClientData
	if client.CrossOrigin || client.TopOrigin != "" {
		return nil, false, errors.New("the passkey was made within a page of another origin")
	}
	_, err = parsed.Verify(base64.RawURLEncoding.EncodeToString(challenge), rpID, origins, nil, nil, protocol.TopOriginExplicitVerificationMode,
		false, true, true, nil, wanted, protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return nil, false, fmt.Errorf("the passkey does not count: %w", detailed(err))
	}
	device := &parsed.Response.AttestationObject.AuthData
	key, algorithm, err := publicKeyOf(device.AttData.CredentialPublicKey)
	if err != nil {
		return nil, false, err
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, false, fmt.Errorf("the public key of the passkey cannot be written: %w", err)
	}
	p, err = NewPasskey(rpID, device.AttData.CredentialID, algorithm, der)
	return p, device.Flags.HasBackupState(), err
}

// detailed is an error of the library with what it says of the cause.
func detailed(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.DevInfo != "" {
		return fmt.Errorf("%s: %s", e.Details, e.DevInfo)
	}
	return err
}

// publicKeyOf reads a key as an authenticator writes it (COSE_Key, RFC 9052).
func publicKeyOf(cose []byte) (crypto.PublicKey, Algorithm, error) {
	parsed, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return nil, "", errors.New("the public key of the passkey cannot be read")
	}
	switch key := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		public, err := key.ToECDSA()
		return public, ES256, err
	case webauthncose.OKPPublicKeyData:
		return ed25519.PublicKey(key.XCoord), EdDSA, nil
	case webauthncose.RSAPublicKeyData:
		return &rsa.PublicKey{N: new(big.Int).SetBytes(key.Modulus), E: int(new(big.Int).SetBytes(key.Exponent).Int64())}, RS256, nil
	}
	return nil, "", errors.New("the public key of the passkey is of a kind that is not known")
}
