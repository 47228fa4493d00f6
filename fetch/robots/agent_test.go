package robots

import (
	"errors"
	"strings"
	"testing"
)

func TestGroupForAWholeUserAgentApplies_K077(t *testing.T) {
	t.Parallel()
	tests := []struct{ userAgent, token string }{
		{"Mozilla/5.0 (compatible; mybot/1.2; +https://my.example/bot)", "mybot"},
		{"Mozilla/5.0 (compatible; mybot; +https://my.example/bot)", "mybot"},
		{"mybot/1.2 (+https://my.example/bot)", "mybot"},
		{"mybot", "mybot"},
		{" mybot (a crawler)", "mybot"},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; mybot/2.1; +http://h/bot.html) Chrome/120.0 Safari/537.36", "mybot"},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605.1 (KHTML, like Gecko) Safari/605.1 (mybot/0.1; +http://h)", "mybot"},
		{"(compatible; MyBot/1)", "MyBot"},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0", ""},
		{"Mozilla/5.0 (Linux; Android 6.0; Nexus 5X Build/MMB29P) AppleWebKit/537.36", ""},
		{"Mozilla/5.0 (compatible; my bot; www.my.example/bot)", ""},
		{"Mozilla/5.0 (unclosed", ""},
		{"", ""},
		{"é/1", ""},
	}
	file := Parse([]byte("User-agent: mybot\nDisallow: /mine\n\nUser-agent: *\nDisallow: /all\n"))
	for _, tt := range tests {
		token, ok := ProductToken(tt.userAgent)
		if token != tt.token || ok != (tt.token != "") {
			t.Errorf("%q: token %q, want %q", tt.userAgent, token, tt.token)
		}
		rules, named := file.Agent(tt.userAgent), tt.token != ""
		if rules.Allowed("/mine") == named || rules.Allowed("/all") != named {
			t.Errorf("%q: the group for %q does not apply", tt.userAgent, tt.token)
		}
	}
}

func TestValidAgent(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"a", "My_Bot-news", "MJ12bot", "Mail.RU_Bot", strings.Repeat("a", maxAgent)} {
		if err := ValidAgent(token); err != nil {
			t.Errorf("%q: %v", token, err)
		}
	}
	for token, meant := range map[string]string{
		"": "", "*": "", "my bot": "my", "mybot/1.2": "mybot", "ツ": "", "my\nbot": "", strings.Repeat("a", maxAgent+1): "",
		"Mozilla/5.0 (compatible; mybot/1.2)": "mybot", strings.Repeat("ü", 200): "",
	} {
		err := ValidAgent(token)
		var typed *AgentError
		if !errors.As(err, &typed) || typed.Token != meant || len(typed.Agent) > 200 {
			t.Errorf("%.20q: %v", token, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), "seine: ") || strings.Contains(err.Error(), "\n") || meant != "" && !strings.Contains(err.Error(), meant) {
			t.Errorf("%.20q: %v", token, err)
		}
	}
}

func FuzzProductToken(f *testing.F) {
	f.Add("Mozilla/5.0 (compatible; mybot/1.2; +url)")
	f.Add("((;)compatible;a/1")
	f.Fuzz(func(t *testing.T, userAgent string) {
		if token, ok := ProductToken(userAgent); ok != (token != "") || ok && ValidAgent(token) != nil {
			t.Errorf("%q %v", token, ok)
		}
	})
}
