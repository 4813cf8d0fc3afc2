package mcpclient

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// The library rejects a whole message if one field has the wrong type, and with it all tools of a server, or an answer
// that has arrived. Servers make such mistakes in fields that do not matter.

// Keys in the _meta of what was changed.
const (
	leftOutKey  = "flowrun/left-out" // the fields that were left out
	unusableKey = "flowrun/unusable" // why a tool cannot be used
)

// readable returns a message of a server without what the library cannot read: optional fields are left out, a tool
// that cannot be used has no name, and content that is not valid is a text. Other messages are returned as they are.
func readable(message []byte) []byte {
	message = bytes.TrimSpace(diagnostic.WithoutMark(message))
	if !bytes.Contains(message, []byte(`"result"`)) {
		return message
	}
	if message[0] == '[' {
		batch := listOf(message)
		for i, one := range batch {
			batch[i] = readable(one)
		}
		return encoded(batch, message)
	}
	envelope := objectOf(message)
	result := objectOf(envelope["result"])
	bare := len(listOf(envelope["result"])) > 0 || bytes.HasPrefix(envelope["result"], []byte(`"`))
	switch {
	case envelope["method"] != nil, result == nil && !bare:
		return message
	case bare: // from a server that has no envelope for content
		result = resultAround(envelope["result"])
		readableResult(result, encoded(result, nil))
	case !readableResult(result, envelope["result"]):
		return message
	}
	envelope["result"] = encoded(result, envelope["result"])
	return encoded(envelope, message)
}

// resultAround returns the result for a list or a text alone: a list of tools, or content.
func resultAround(v json.RawMessage) map[string]json.RawMessage {
	if list := listOf(v); len(list) > 0 && objectOf(list[0])["inputSchema"] != nil {
		return map[string]json.RawMessage{"tools": v}
	}
	return map[string]json.RawMessage{"content": v}
}

// readableResult changes a result so that the library can read it, and reports whether it did. The kind of a result follows
// from its fields, because a response does not say which request it answers.
func readableResult(result map[string]json.RawMessage, text json.RawMessage) (changed bool) {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return result[key] != nil })
	}
	switch {
	case has("tools") && !has("content", "structuredContent", "isError"):
		return readableList(result)
	case has("protocolVersion"):
		return noteLeftOut(result, leaveOut[mcp.InitializeResult](result))
	case has("supportedVersions"):
		return noteLeftOut(result, leaveOut[mcp.DiscoverResult](result))
	}
	renamed := rename(result, "is_error", "isError") || rename(result, "structured_content", "structuredContent")
	if elsewhere := saysElsewhere(result); elsewhere != nil {
		result["content"] = encoded([]json.RawMessage{textBlock(string(elsewhere))}, nil)
		if wordOf(result["error"]) != "" {
			result["isError"] = json.RawMessage("true")
		}
		return true
	}
	if json.Unmarshal(text, new(mcp.CallToolResult)) == nil && !slices.ContainsFunc(listOf(result["content"]), isEmptyBlock) {
		return renamed
	}
	readableAnswer(result)
	return true
}

// rename gives a field the name of the protocol, and reports whether it did.
func rename(fields map[string]json.RawMessage, from, to string) bool {
	if fields[from] == nil || fields[to] != nil {
		return false
	}
	fields[to] = fields[from]
	delete(fields, from)
	return true
}

// saysElsewhere returns the JSON of an answer that has nothing of the protocol: another answer has an output. It returns nil for
// other results.
func saysElsewhere(result map[string]json.RawMessage) json.RawMessage {
	if v := result["toolResult"]; v != nil && result["content"] == nil { // of the first version of the protocol
		return v
	}
	for _, key := range []string{"output", "text", "error", "result", "data", "contents", "messages"} {
		if result[key] != nil && result["content"] == nil && result["structuredContent"] == nil {
			return encoded(result, nil)
		}
	}
	return nil
}

// isEmptyBlock reports whether a block lacks what blocks of its kind have, and has something else.
func isEmptyBlock(text json.RawMessage) bool {
	block := objectOf(text)
	key := map[string]string{"text": "text", "image": "data", "audio": "data", "resource": "resource"}[wordOf(block["type"])]
	for name := range block {
		if key != "" && block[key] == nil && !slices.Contains([]string{"type", "annotations", "_meta", "mimeType"}, name) {
			return true
		}
	}
	return false
}

// readableList changes a list of tools.
func readableList(result map[string]json.RawMessage) (changed bool) {
	tools := listOf(result["tools"])
	if tools == nil {
		return false // the library reports it
	}
	for i, text := range tools {
		one, problem := readableTool(text)
		if problem != "" {
			one = withMeta(map[string]json.RawMessage{}, unusableKey, problem)
		}
		if one != nil {
			tools[i], changed = encoded(one, text), true
		}
	}
	if changed {
		result["tools"] = encoded(tools, result["tools"])
	}
	return noteLeftOut(result, leaveOut[mcp.ListToolsResult](result)) || changed
}

// readableTool returns a tool without fields that are not valid, nil if all are. problem says why it cannot be used.
func readableTool(text json.RawMessage) (tool map[string]json.RawMessage, problem string) {
	tool = objectOf(text)
	var name string
	switch {
	case tool == nil:
		return nil, "it is not an object"
	case json.Unmarshal(orNull(tool["name"]), &name) != nil:
		return nil, "its name is not a text"
	case depthOf(tool["inputSchema"]) > maxSchemaDepth:
		return nil, fmt.Sprintf("its schema is nested deeper than %d levels", maxSchemaDepth)
	}
	if json.Unmarshal(text, new(mcp.Tool)) == nil {
		return nil, ""
	}
	left := leaveOut[mcp.Tool](tool)
	noteLeftOut(tool, left)
	return tool, ""
}

// leaveOut removes the fields that a type of the library cannot hold, and returns their names.
func leaveOut[T any](fields map[string]json.RawMessage) (names []string) {
	for name, v := range fields {
		alone := encoded(map[string]json.RawMessage{name: v}, nil)
		if json.Unmarshal(alone, new(T)) != nil {
			delete(fields, name)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// noteLeftOut adds the names of fields to the _meta of their object. It reports whether there are any.
func noteLeftOut(fields map[string]json.RawMessage, names []string) bool {
	if len(names) == 0 {
		return false
	}
	withMeta(fields, leftOutKey, strings.Join(names, ", "))
	return true
}

// withMeta adds a text to the _meta of an object.
func withMeta(fields map[string]json.RawMessage, key, text string) map[string]json.RawMessage {
	meta := objectOf(fields["_meta"])
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta[key] = encoded(text, nil)
	fields["_meta"] = encoded(meta, nil)
	return fields
}

// readableAnswer changes the answer to a call.
func readableAnswer(result map[string]json.RawMessage) {
	blocks := listOf(result["content"])
	if v := result["content"]; blocks == nil && v != nil {
		blocks = []json.RawMessage{v} // a single block, or a text
	}
	blocks = slices.Clone(blocks)
	for i, one := range blocks {
		blocks[i] = readableBlock(one)
	}
	blocks = slices.DeleteFunc(blocks, func(one json.RawMessage) bool { return one == nil })
	result["content"] = encoded(blocks, json.RawMessage("[]"))
	if word := strings.Trim(string(result["isError"]), `" `); word == "true" || word == "1" {
		result["isError"] = json.RawMessage("true")
	}
	noteLeftOut(result, leaveOut[mcp.CallToolResult](result))
}

// readableBlock returns a block of content that the library can read; nil for null.
func readableBlock(text json.RawMessage) json.RawMessage {
	fits := func(block json.RawMessage) bool {
		return json.Unmarshal(encoded(map[string]any{"content": []json.RawMessage{block}}, nil), new(mcp.CallToolResult)) == nil
	}
	block := objectOf(text)
	switch {
	case string(text) == "null":
		return nil
	case block == nil:
		return textBlock(wordOf(text))
	case isEmptyBlock(text):
		return unknownBlock(block, text, wordOf(block["type"]))
	case fits(text):
		return text
	}
	kind := wordOf(block["type"])
	switch kind {
	case "text":
		return textBlock(wordOf(block["text"]))
	case "image", "audio":
		if !decodeData(block, "data", "mimeType") {
			return textBlock(fmt.Sprintf("[%s whose data is not valid base64]", kind))
		}
	case "resource":
		inner := objectOf(block["resource"])
		if inner == nil {
			return unknownBlock(block, text, kind)
		}
		if inner["blob"] != nil && !decodeData(inner, "blob", "mimeType") {
			return textBlock(fmt.Sprintf("[resource %s whose data is not valid base64]", wordOf(inner["uri"])))
		}
		leaveOut[mcp.ResourceContents](inner)
		block["resource"] = encoded(inner, nil)
	case "resource_link":
	default:
		return unknownBlock(block, text, kind)
	}
	for name, v := range block {
		if !fits(encoded(map[string]json.RawMessage{"type": block["type"], name: v}, nil)) {
			delete(block, name)
		}
	}
	return encoded(block, nil)
}

// unknownBlock returns what can be read of content of a kind that the protocol does not have: its text, its data as that of a
// resource, or its JSON.
func unknownBlock(block map[string]json.RawMessage, text json.RawMessage, kind string) json.RawMessage {
	var inside string
	switch {
	case json.Unmarshal(orNull(block["text"]), &inside) == nil && inside != "":
		return textBlock(inside)
	case strings.Contains(wordOf(block["mimeType"]), "/") && block["data"] != nil && decodeData(block, "data", "mimeType"):
		resource := map[string]json.RawMessage{"uri": encoded("flowrun:content", nil), "mimeType": block["mimeType"], "blob": block["data"]}
		return encoded(map[string]any{"type": "resource", "resource": resource}, nil)
	case len(text) <= maxDescription:
		return textBlock(string(text))
	}
	return textBlock(fmt.Sprintf("[content of the kind %q, which flowrun cannot read]", plainText(kind, maxTitle)))
}

// decodeData writes the data of a block in the alphabet that the library reads. Servers also write base64 for URLs, without
// padding, with line ends, or as a data: URL, which has the media type too. It reports whether it is base64 at all.
func decodeData(block map[string]json.RawMessage, key, kind string) bool {
	var text string
	if json.Unmarshal(orNull(block[key]), &text) != nil {
		return false
	}
	if rest, isURL := strings.CutPrefix(text, "data:"); isURL {
		head, data, found := strings.Cut(rest, ",")
		if !found {
			return false
		}
		text = data
		if media, _, _ := strings.Cut(head, ";"); media != "" && wordOf(block[kind]) == "" {
			block[kind] = encoded(media, nil)
		}
	}
	text = strings.NewReplacer("\n", "", "\r", "", " ", "", "\t", "", "-", "+", "_", "/", "=", "").Replace(text)
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	block[key] = encoded(data, nil)
	return true
}

// textBlock returns a block with a text.
func textBlock(text string) json.RawMessage {
	return encoded(map[string]string{"type": "text", "text": text}, nil)
}

// wordOf returns a JSON text without its quotes, and other JSON as it is written; "" for nothing and null.
func wordOf(v json.RawMessage) string {
	var text string
	if json.Unmarshal(orNull(v), &text) == nil {
		return text
	}
	return string(v)
}

// orNull returns JSON, null in place of nothing.
func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// objectOf returns the members of a JSON object; nil for another value or null.
func objectOf(text json.RawMessage) (members map[string]json.RawMessage) {
	if json.Unmarshal(orNull(text), &members) != nil {
		return nil
	}
	return members
}

// listOf returns the elements of a JSON list; nil for another value or null.
func listOf(text json.RawMessage) (elements []json.RawMessage) {
	if json.Unmarshal(orNull(text), &elements) != nil {
		return nil
	}
	return elements
}

// depthOf returns how deeply JSON is nested.
func depthOf(text json.RawMessage) (deepest int) {
	depth := 0
	inText, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = c == '\\', c != '"'
		case c == '"':
			inText = true
		case c == '{', c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}', c == ']':
			depth--
		}
	}
	return deepest
}

// encoded returns a value as JSON; otherwise, if that cannot be.
func encoded(v any, otherwise json.RawMessage) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return otherwise
	}
	return text
}
