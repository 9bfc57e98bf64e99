package lsp

// The types of the protocol (LSP 3.17), as far as the server speaks it. Lines and characters begin at 0, and characters are
// units of UTF-16.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type documentName struct {
	URI string `json:"uri"`
}

type versionedName struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type initializeParams struct {
	RootURI          string             `json:"rootUri"`
	WorkspaceFolders []folder           `json:"workspaceFolders"`
	Capabilities     clientCapabilities `json:"capabilities"`
}

// clientCapabilities are what an editor can do, as far as the server asks for it.
type clientCapabilities struct {
	Workspace struct {
		WorkspaceEdit struct {
			DocumentChanges bool `json:"documentChanges"`
		} `json:"workspaceEdit"`
		InlayHint struct {
			RefreshSupport bool `json:"refreshSupport"`
		} `json:"inlayHint"`
		CodeLens struct {
			RefreshSupport bool `json:"refreshSupport"`
		} `json:"codeLens"`
	} `json:"workspace"`
}

type initializeResult struct {
	Capabilities capabilities `json:"capabilities"`
	ServerInfo   serverInfo   `json:"serverInfo"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type capabilities struct {
	PositionEncoding string        `json:"positionEncoding"`
	TextDocumentSync syncOptions   `json:"textDocumentSync"`
	Workspace        workspaceCaps `json:"workspace"`

	Completion  completionCaps `json:"completionProvider"`
	Signature   completionCaps `json:"signatureHelpProvider"`
	Hover       bool           `json:"hoverProvider"`
	Formatting  bool           `json:"documentFormattingProvider"`
	Definition  bool           `json:"definitionProvider"`
	References  bool           `json:"referencesProvider"`
	Symbols     bool           `json:"documentSymbolProvider"`
	InlayHints  bool           `json:"inlayHintProvider"`
	CodeActions bool           `json:"codeActionProvider"`
	Rename      renameCaps     `json:"renameProvider"`
	CodeLens    struct{}       `json:"codeLensProvider"`
	Tokens      tokensCaps     `json:"semanticTokensProvider"`
}

type completionCaps struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

type renameCaps struct {
	PrepareProvider bool `json:"prepareProvider"`
}

type tokensCaps struct {
	Legend tokensLegend `json:"legend"`
	Full   bool         `json:"full"`
}

type tokensLegend struct {
	Types     []string `json:"tokenTypes"`
	Modifiers []string `json:"tokenModifiers"`
}

type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
	Save      bool `json:"save"`
}

type workspaceCaps struct {
	WorkspaceFolders foldersCaps `json:"workspaceFolders"`
}

type foldersCaps struct {
	Supported           bool `json:"supported"`
	ChangeNotifications bool `json:"changeNotifications"`
}

// syncIncremental says that a client sends changes, or a whole text.
const syncIncremental = 2

type didOpenParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument   versionedName `json:"textDocument"`
	ContentChanges []change      `json:"contentChanges"`
}

// change is a part of a text that is replaced, or the whole text where it has no range.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type documentParams struct {
	TextDocument documentName `json:"textDocument"`
}

type foldersParams struct {
	Event struct {
		Added   []folder `json:"added"`
		Removed []folder `json:"removed"`
	} `json:"event"`
}

type filesParams struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

// The severities of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
)

type diagnostic struct {
	Range    span      `json:"range"`
	Severity int       `json:"severity"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type messageParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// messageInfo is the type of a message that is no warning.
const messageInfo = 3

type diagnosticReport struct {
	Kind  string       `json:"kind"`
	Items []diagnostic `json:"items"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type placeParams struct {
	TextDocument documentName `json:"textDocument"`
	Position     position     `json:"position"`
}
