package contract

func tokenRows() []Requirement {
	return []Requirement{
		{
			Token, Tokens, "token_url answers a token to the client's credentials.",
			"Nothing is sent, exit code 1. Correct token_url, client_id, the secret or auth_style.",
		},
		{
			TokenScope, Tokens, "The token has every scope that was asked for.",
			"The first 403 stops a run. Ask the operator for the scope, or correct scopes.",
		},
		{
			TokenLife, Tokens, "A token is good for as long as expires_in says.",
			"After a 401 remit gets one new token and repeats the request. It stops the run where that token is refused as well. An expires_in that is no number of seconds counts as none.",
		},
		{
			Clock, Tokens, "The token's answer has a Date within 5 minutes of this machine's clock.",
			"Another time stops the run before anything is sent. Without a Date only the clock of this machine says how old a doubt is, and remit sends a doubt of before a restart of the machine never again by itself.",
		},
	}
}

func answerRows() []Requirement {
	return []Requirement{
		{
			Accepted, Answers, "A request that is right is not refused.",
			"The transfer is refused: no money moved. The problem of the answer says why.",
		},
		{
			Answer, Answers, "Each request gets a whole answer within timeout that says whether a transfer was made.",
			"The transfer is in doubt: remit looks it up, or sends the recorded request again within replay_window. Raise timeout where the service is slow.",
		},
		{
			AnswerRecord, Answers, "A 2xx answer is one transfer record in JSON, with every field that the service's document requires, and no destination_address, crypto_tx_hash or fiat_account_id.",
			"The transfer is in doubt: remit looks it up, or sends the recorded request again within replay_window. Where a total, a fee, a status or a time alone is missing, or a field says that money left the service, it is unverified: a person accepts the record.",
		},
		{
			Redirect, Answers, "No request is redirected.",
			"remit follows no redirect, which would hand the token to another address: the transfer is in doubt, and the run stops. Correct base_url.",
		},
		{
			Pace, Answers, "Requests that come one after another are processed.",
			"After 425 and 429 remit waits as Retry-After says and slows down. What is never processed is sent by a later run. Set rate_limit to what the operator allows.",
		},
	}
}

func recordRows() []Requirement {
	const stops = "A conflict: the run starts nothing new. Find out what was moved."
	const unverified = "Unverified: check the record and accept it."
	return []Requirement{
		{
			Side, Records, "The answered record is the debit side.",
			"In doubt: the credit side alone does not say what was debited. A lookup with both sides settles it.",
		},
		{Amount, Records, "amount is the number that was asked for, as a plain decimal: 100, 100.0 or 100.00.", stops},
		{Asset, Records, "asset, and balance_asset where it is there, are those that were asked for.", stops},
		{Profile, Records, "profile_id, and identity_id and account_id where they are there, are the sender's.", stops},
		{
			Type, Records, "type is the operation with the operator's word, and the side.",
			stops + " Correct operator.",
		},
		{
			Metadata, Records, "metadata comes back as it was sent, or not at all.",
			stops + " Where the service changes metadata, declare none, and set no fingerprint_key.",
		},
		{RecordID, Records, "Each record has an id of its own.", stops},
		{GroupID, Records, "Each transfer has a group_id of its own.", unverified},
		{Total, Records, "total is amount, or amount with fee added or taken off.", unverified},
		{
			CreatedAt, Records, "created_at is when the transfer was made.",
			"A record that is older than its request counts as made by somebody else: adopted, or unverified where nothing proves whom it paid.",
		},
		{CustomerID, Records, "All records have one customer_id.", stops},
		{
			Form, Records, "Fields and values are those that the service's document lists.",
			"remit keeps what it does not know, and does not read it.",
		},
		{
			Status, Records, "status is PENDING, COMPLETED or FAILED.",
			"Another status is not final: what depends on the transfer is not sent, and exit code 4 asks for action.",
		},
		{
			Completed, Records, "A transfer that is funded becomes COMPLETED while certify waits (--wait).",
			"A PENDING transfer is recorded; remit refresh asks what became of it. A FAILED one is looked up once more; pay it under a new ref_id only then.",
		},
	}
}

func replayRows() []Requirement {
	const hold = `Set on_doubt = "hold": remit then sends nothing again, and a lookup or remit resolve settles each doubt.`
	return []Requirement{
		{
			RefID, Replays, "The record has the ref_id that was sent.",
			"Another ref_id is a conflict: the run starts nothing new. Find out what was moved. Where the service answers none, set fingerprint_key: without it, only the other fields of an answer say whose it is.",
		},
		{
			RefIDLength, Replays, "A ref_id may have 100 characters.",
			"Write shorter ref_ids.",
		},
		{
			RefIDSigns, Replays, "A ref_id may have spaces and signs inside, and comes back as it was sent.",
			"Write ref_ids of letters, digits and dashes.",
		},
		{
			RefIDCase, Replays, "ref_ids that differ in capitals alone are two.",
			"The second transfer is a conflict, or adopted. Write ref_ids in one case.",
		},
		{
			Replay, Replays, "The same request again makes no second transfer, however many came between.",
			"A lost answer may be paid twice. " + hold,
		},
		{
			ReplayAnswer, Replays, "The same request again is answered with the first record, or with 409 and the record in meta.existing, or with 409 where there is a lookup_path.",
			"A lost answer stays in doubt until remit resolve settles it.",
		},
		{
			ReplayOther, Replays, "Another request under a ref_id that is known makes no transfer.",
			"Two directories that use one ref_id both pay. Keep the ref_ids of each apart.",
		},
		{
			ReplayLasts, Replays, "Replay protection lasts for replay_window.",
			"A doubt of that age may be paid twice. Set replay_window to less than the age at which the service forgot.",
		},
	}
}

func lookupRows() []Requirement {
	const without = "A doubt is not settled by lookup, and no transfer is looked up before it is sent. Correct lookup_path, or remove it and remit relies on replay protection alone."
	return []Requirement{
		{Lookup, Lookups, "lookup_path answers a list of records, in JSON.", without},
		{
			LookupFound, Lookups, "A lookup lists each transfer that was made, once.",
			"What a lookup does not list counts as not made once it was asked for again after 1, 2, 5 and 15 seconds. " +
				"Where a list has some of several ref_ids, remit asks for the others once more, in the turned order, and for each alone where any is dropped on the way. " +
				"A list of nothing is believed: where a gateway passes on one of several parameters ref_ids, or joins them, see that it passes on all, or write lookup_max = 1. " +
				"Two transfers under one ref_id are a conflict. " + without,
		},
		{
			LookupLag, Lookups, "A lookup lists a transfer while certify waits (--wait), better within 23 seconds.",
			"remit looks again after 1, 2, 5 and 15 seconds, and then sends the recorded request again: replay protection alone keeps it from being paid twice.",
		},
		{
			LookupRecord, Lookups, "A lookup has whole records, under the ref_id as it was sent, and they say what the answer said.",
			"A record that can't be read leaves its transfer in doubt. One that says something else is a conflict.",
		},
		{
			LookupSides, Lookups, "A lookup has both sides of a transfer, and the credit side names the destination.",
			"A record that this state did not make stays unverified until remit resolve accepts it. With fingerprint_key the debit side proves the destination.",
		},
		{
			LookupCredit, Lookups, "Both sides of a transfer end alike, COMPLETED or FAILED.",
			"A COMPLETED debit beside a FAILED credit is unverified, and remit refresh names it, exit code 4: the money left the sender and did not arrive. A FAILED debit beside a COMPLETED credit is a conflict: it may have arrived.",
		},
		{
			LookupEmpty, Lookups, "A lookup of ref_ids that nobody used answers an empty list.",
			"The lookup before the first sending fails, and remit sends nothing. Have the operator answer an empty list, or remove lookup_path.",
		},
		{
			LookupAbsent, Lookups, "A lookup lists nothing but the ref_ids that were asked for.",
			"Where a list has others, a ref_id that it does not have counts as one that can't be read, and not as absent: it is not sent, and a doubt of it stays. Correct lookup_path, or have the operator answer what was asked. A list ends at a page without a cursor, at one without anything new whose cursor leads back, or after 50 pages in a row without anything new; four, where one cursor stands for all of them and nothing came yet. Where the last page came again, remit asks for those that are lacking by themselves. A list of more than 100 pages can't be read, and settles nothing.",
		},
		{
			LookupLength, Lookups, "A lookup takes as many ref_ids as lookup_max says, 100, in an address of up to 4,000 bytes.",
			"remit asks for half as many after 413, 414 and 431, and remembers the length. It gives up after any other answer: set lookup_max to what the service takes.",
		},
	}
}

func refusalRows() []Requirement {
	return []Requirement{
		{
			RefusalFunds, Refusals, "An amount that the sender does not have is refused with 4xx, and nothing is made.",
			"What is answered with 5xx is in doubt although nothing was made. What is made as FAILED is paid under a new ref_id.",
		},
	}
}

func balanceRows() []Requirement {
	return []Requirement{
		{
			Balance, Balances, "balance_path answers what a profile has of each asset, as decimals.",
			"A run that may be short of funds begins all the same, with a notice. Correct balance_path, ask for the scope, or write balance_path = \"none\".",
		},
		{
			BalanceFalls, Balances, "The sender's balance falls by what was made, fees included, while certify waits (--wait).",
			"A balance that lags lets a run begin that is short, or stops one that is not: --accept-shortfall passes.",
		},
	}
}
