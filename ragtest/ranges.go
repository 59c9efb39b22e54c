package ragtest

// ranges is a set of numbers, held as ranges that are sorted, disjoint and not
// adjacent.
type ranges []numberRange

type numberRange struct{ from, to int }

// add adds the numbers from from to less than to, and returns how many are new.
func (r *ranges) add(from, to int) (added int) {
	list := *r
	low, high := 0, len(list)
	for low < high {
		if middle := int(uint(low+high) / 2); list[middle].to < from {
			low = middle + 1
		} else {
			high = middle
		}
	}
	// list[low:last] are those that the new range overlaps or touches.
	added = to - from
	last := low
	start, end := from, to
	for ; last < len(list) && list[last].from <= to; last++ {
		p := &list[last]
		added -= min(to, p.to) - max(from, p.from)
		start, end = min(start, p.from), max(end, p.to)
	}
	switch {
	case last > low:
		list[low] = numberRange{start, end}
		if last > low+1 {
			list = append(list[:low+1], list[last:]...)
		}
	case low == len(list):
		list = append(list, numberRange{from, to})
	default:
		list = append(list, numberRange{})
		copy(list[low+1:], list[low:])
		list[low] = numberRange{from, to}
	}
	*r = list
	return added
}
