package executor

import (
	"errors"
	"fmt"

	"remit/internal/text/shell"
	"remit/state"
)

// Remedy says how a person goes on where the settling of refID failed with err: what to add to the error, and the command
// to type, of which each is "" where there is none. File is the name of the file whose record was given; "" for
// none.
func Remedy(err error, refID, file string) (more, next string) {
	resolve := func(flags string) string { return "remit resolve " + shell.Word(refID) + " " + flags + " --reason=…" }
	given := "FILE"
	if file != "" {
		given = shell.Word(file)
	}
	listed, isListed := errors.AsType[*ListedError](err)
	_, isSettled := errors.AsType[*StatusError](err)
	_, differs := errors.AsType[*DifferenceError](err)
	_, isOthers := errors.AsType[*OthersError](err)
	held, isHeld := errors.AsType[*HeldError](err)
	_, isForeign := errors.AsType[*ForeignError](err)
	_, isReused := errors.AsType[*ReusedIDError](err)
	duplicate, isDuplicate := errors.AsType[*state.DuplicateRecordError](err)
	switch {
	case errors.Is(err, ErrUnknownRefID):
		return "", "remit state list"
	case isListed && listed.Kept, isListed && listed.Status == state.Conflict && listed.Unreadable == "":
		return "", resolve("--accept-record")
	case isListed, errors.Is(err, ErrCreditOpen):
		return "", "remit resolve " + shell.Word(refID)
	case isSettled:
		return "", "remit state show " + shell.Word(refID)
	case errors.Is(err, ErrForeignKept):
		return "Nothing was changed. If the kept record is what the service made of it, accept that", resolve("--accept-record")
	case errors.Is(err, ErrAbsent):
		return "If another channel shows that it was not made, say so", resolve("--not-made")
	case errors.Is(err, ErrCreditOnly), isOthers:
		return "", resolve("--recorded=FILE")
	case isForeign:
		return "", resolve("--not-made")
	case isHeld && held.Stored:
		return "", "remit state forget " + shell.Word(refID) + " --reason=…"
	case isHeld:
		return "", resolve("--recorded=FILE")
	case differs:
		return "Nothing was changed. If this is what the service really made of it, accept it; the journal keeps the differences",
			resolve("--recorded=" + given + " --accept-record")
	case isReused:
		return "Nothing was changed. Find out what was really moved, and accept the record", resolve("--recorded=" + given + " --accept-record")
	case isDuplicate:
		return fmt.Sprintf("Nothing was changed. One record is never two transfers. If the service took this for the other transfer "+
			"and made none of its own, say --not-made. If it made one, give the record of that, and not that of %q",
			duplicate.RefID), resolve("--recorded=FILE --accept-record")
	}
	return "", ""
}
