package openai

import "encoding/json"

// isStrict reports whether every object of a JSON Schema requires all of its
// properties and allows no others, as OpenAI's strict mode demands. The error is
// that of a schema that is not a JSON object.
func isStrict(schema json.RawMessage) (bool, error) {
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		return false, err
	}
	return root["type"] == "object" && strictNode(root), nil
}

// strictNode reports whether all objects in a value of a schema are strict.
func strictNode(node any) bool {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			if !strictNode(item) {
				return false
			}
		}
	case map[string]any:
		if isObject(n["type"]) && !strictObject(n) {
			return false
		}
		for key, value := range n {
			switch key {
			case "const", "enum", "default", "examples":
				continue // data, not schemas
			case "properties", "$defs", "definitions":
				// Its keys are names, of which any may be one of the above.
				named, _ := value.(map[string]any)
				for _, schema := range named {
					if !strictNode(schema) {
						return false
					}
				}
				continue
			}
			if !strictNode(value) {
				return false
			}
		}
	}
	return true
}

// isObject reports whether the type of a schema is, or may be, "object".
func isObject(t any) bool {
	if many, ok := t.([]any); ok {
		for _, one := range many {
			if one == "object" {
				return true
			}
		}
	}
	return t == "object"
}

func strictObject(n map[string]any) bool {
	if n["additionalProperties"] != false {
		return false
	}
	properties, ok := n["properties"].(map[string]any)
	if !ok {
		return false
	}
	required := map[any]bool{}
	list, _ := n["required"].([]any)
	for _, name := range list {
		required[name] = true
	}
	for name := range properties {
		if !required[name] {
			return false
		}
	}
	return true
}
