package demosite

import "strings"

// The words that films and people are made of.
var (
	titleAdjectives = words("Silent Hidden Last Broken Golden Distant Crimson Frozen Burning Lost Wandering Paper Northern " +
		"Velvet Hollow Gentle Restless Faded Secret Brave Marble Copper Sleeping Forgotten Bitter Patient Quiet Scarlet " +
		"Tender Wild Wooden Midnight Borrowed Drowned Perfect Second Thirsty Tidal Young Zealous")
	titleNouns = words("River Harbour Winter Garden Signal Mountain Orchard Mirror Station Letter Lantern Island Clock Bridge " +
		"Summer Theatre Desert Violin Window Carnival Frontier Painter Colony Machine Circus Library Sailor Railway Comet " +
		"Hotel Meadow Tower Kitchen Forest Voyage Island-Hopper Café Shadow Promise Umbrella")
	titleForms = []string{
		"The %s %s", "%s %s", "Beyond the %s %s", "Return to the %s %s", "Letters from the %s %s",
		"The %s %s & Other Lies", "O'Hara's %s %s", "“%s %s” <Director's Cut>",
	}

	firstNames = words("Ada Bruno Clara Dmitri Elif Farid Greta Hugo Ines Jonas Kaori Lucia Marek Nadia Oskar Paula Quentin " +
		"Rosa Stefan Tamar Ulla Viktor Wanda Xavier Yara Zoltan Amara Björn Chloé Diego Esther Felix Gita Henrik Ilse João " +
		"Karin Leon Mina Noor")
	lastNames = words("Moreau Lindqvist Okafor Tanaka Novak Castillo Bergman Haddad Petrov Silva Keller Duarte Ivanova Laurent " +
		"Mbeki Nilsson Orlov Pereira Quispe Rossi Sato Torres Ueda Varga Weber Xu Yilmaz Zhou Almeida Brandt Costa Dvořák " +
		"Eriksen Fischer Gallo Horvat Ito Jansen Kowalski O'Neill")

	genreNames = []string{"Adventure", "Comedy", "Crime", "Documentary", "Drama", "Fantasy", "Film noir", "Science fiction", "Thriller", "Western"}
	countries  = []string{"Argentina", "Brazil", "China", "France", "Germany", "Japan", "Nigeria", "Russia", "Sweden", "United States"}
	roles      = words("Ada Captain Doctor Driver Editor Gardener Guide Inspector Judge Marta Miller Nurse Pilot Stranger Teacher Uncle")

	heroes  = []string{"a retired cartographer", "two estranged sisters", "a night-shift projectionist", "an unlucky jockey", "the last lighthouse keeper", "a shy piano tuner"}
	tasks   = []string{"must cross a country that no longer exists", "inherits a debt nobody can explain", "finds a reel that was never shot", "hides a stranger for one winter", "teaches a town to listen", "bets everything on a borrowed boat"}
	turns   = []string{"Then a letter arrives thirty years late.", "But the river has other plans.", "Only the neighbour's dog knows the truth.", "What begins as a favour becomes a vow.", "Nobody expected the brass band.", "The map, it turns out, is upside down."}
	posters = []string{"png", "jpg"}

	// Titles in other scripts are an adjective and a noun of one gender, and an attribute and a noun.
	russianAdjectives = words("Тихая Белая Последняя Северная Тёмная Чужая Далёкая Забытая")
	russianNouns      = words("река зима дорога звезда ночь песня земля гавань")
	chineseAdjectives = words("沉默 白色 最后 北方 黑暗 遥远 失落 金色")
	chineseNouns      = words("河流 冬天 道路 星辰 夜晚 歌声 大地 港湾")

	qualities = words("720p 1080p 2160p")
	sources   = words("BluRay WEB-DL HDTV")
	codecs    = words("x264 x265")
)

const (
	russianText = "Каталог показывает фильмы с русскими названиями. Каждая картина описана коротко: год, режиссёр и страна."
	chineseText = "这个目录列出中文片名的电影。每部电影都有简短的介绍：年份、导演和国家。"
)

func words(list string) []string { return strings.Fields(list) }
