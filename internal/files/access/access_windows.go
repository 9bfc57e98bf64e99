package access

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// touching are the rights to see or to change a file's content, or to hand such a right on.
const touching = windows.FILE_READ_DATA | windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.WRITE_DAC | windows.WRITE_OWNER |
	windows.GENERIC_READ | windows.GENERIC_WRITE | windows.GENERIC_ALL

// Exposed says why a file of secrets is not one person's; "" where it is: where its access control list lets its
// owner, this process's user, SYSTEM and the administrators of the machine alone see or change it.
func Exposed(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "" // who reads it, says why that failed; a pipe is read once
	}
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "has an access control list that cannot be read"
	}
	list, _, err := descriptor.DACL()
	if err != nil || list == nil {
		return "is open to everybody on this machine" // a file without a list is everybody's
	}
	trusted := trustees()
	if owner, _, err := descriptor.Owner(); err == nil {
		trusted = append(trusted, owner)
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &entry) != nil {
			return "has an access control list that cannot be read"
		}
		who := (*windows.SID)(unsafe.Pointer(&entry.SidStart))
		isFor := entry.Header.AceFlags&windows.INHERIT_ONLY_ACE == 0
		if entry.Header.AceType == windows.ACCESS_ALLOWED_ACE_TYPE && isFor && entry.Mask&touching != 0 && !isOneOf(who, trusted) {
			return "is open to " + nameOf(who)
		}
	}
	return ""
}

// Closing is the command that makes a file its user's alone; of "", without the file's name. Both shells of Windows read it.
func Closing(path string) string {
	user := "%USERNAME%"
	if token, err := windows.GetCurrentProcessToken().GetTokenUser(); err == nil {
		user = nameOf(token.User.Sid)
	}
	if path != "" {
		path = ` "` + path + `"`
	}
	return "icacls" + path + ` /inheritance:r /grant:r "` + user + `:F"`
}

// IsTrusted reports whether a file or directory belongs to this process's user, to SYSTEM or the machine's
// administrators, or to whom another belongs.
func IsTrusted(path, other string) bool {
	owner, isKnown := ownerOf(path)
	if !isKnown {
		return false
	}
	trusted := trustees()
	if of, isKnown := ownerOf(other); isKnown {
		trusted = append(trusted, of)
	}
	return isOneOf(owner, trusted)
}

func ownerOf(path string) (*windows.SID, bool) {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return nil, false
	}
	owner, _, err := descriptor.Owner()
	return owner, err == nil && owner != nil
}

// trustees are this process's user, SYSTEM, the administrators and the rights that an owner has as such.
func trustees() []*windows.SID {
	var all []*windows.SID
	if user, err := windows.GetCurrentProcessToken().GetTokenUser(); err == nil {
		all = append(all, user.User.Sid)
	}
	for _, kind := range []windows.WELL_KNOWN_SID_TYPE{windows.WinLocalSystemSid, windows.WinBuiltinAdministratorsSid, windows.WinCreatorOwnerRightsSid} {
		if known, err := windows.CreateWellKnownSid(kind); err == nil {
			all = append(all, known)
		}
	}
	return all
}

func isOneOf(who *windows.SID, all []*windows.SID) bool {
	for _, one := range all {
		if who.Equals(one) {
			return true
		}
	}
	return false
}

func nameOf(who *windows.SID) string {
	if who.IsWellKnown(windows.WinWorldSid) {
		return "everybody on this machine"
	}
	if name, domain, _, err := who.LookupAccount(""); err == nil {
		return strings.TrimPrefix(domain+`\`+name, `\`)
	}
	return who.String()
}
