package tui

import (
	tea "charm.land/bubbletea/v2"
)

// point does what the mouse asks for.
func (m *Model) point(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		switch at.Button {
		case tea.MouseWheelUp:
			return m.move(-3)
		case tea.MouseWheelDown:
			return m.move(3)
		}
	case tea.MouseClickMsg:
		if at.Button == tea.MouseLeft && m.wantKill == nil {
			return m.click(at.X, at.Y)
		}
	}
	return nil
}

func (m *Model) click(x, y int) tea.Cmd {
	if m.page != overview || m.tiny() {
		return m.turn(overview)
	}
	l := m.layout()
	switch {
	case l.footer.Has(x, y):
		for _, k := range m.foot {
			if x >= k.x && x < k.x+k.w {
				return k.do(m)
			}
		}
	case l.devices.Has(x, y):
		m.clickDevice(l, x, y)
	case l.head.Has(x, y):
		for _, c := range m.placeColumns(l.head.W) {
			if x >= c.x && x < c.x+c.w {
				return m.sortBy(c.Column)
			}
		}
	case l.rows.Has(x, y):
		if i := m.top + y - l.rows.Y; i < len(m.rows) {
			again := m.isChosen(&m.rows[i]) && !m.onDevices
			m.choose(&m.rows[i])
			m.onDevices = false
			if again {
				return m.lookInto()
			}
		}
	}
	return nil
}

// clickDevice chooses the device that was clicked on, or below whose host's name it
// stands.
func (m *Model) clickDevice(l layout, x, y int) {
	for _, s := range m.seen(l) {
		if !s.rect.Has(x, y) && !s.heading.Has(x, y) {
			continue
		}
		m.chosen, m.onDevices = true, true
		m.chooseGPU(s.key())
		if m.only {
			m.arrangeRows()
		}
		return
	}
}
